/** What pick-nodes can't be much slower than: every page of all pods fetched and parsed, nothing else. `bare-fetch.ts KUBECONFIG` */
import { readKubeconfig } from '../../../shared/kubernetes/kubeconfig.ts';

const { server, ca, user } = readKubeconfig({ kubeconfig: process.argv[2]!, cwd: process.cwd(), env: {} })!;
let after = '';
let pods = 0;
do {
  const url = `${server}/api/v1/pods?limit=500&continue=${encodeURIComponent(after)}`;
  const answer = await fetch(url, { tls: { ca: ca!, ...user.certificate! } });
  const page = JSON.parse(await answer.text()) as { items: unknown[]; metadata: { continue?: string } };
  pods += page.items.length;
  after = page.metadata.continue ?? '';
} while (after !== '');
console.log(pods);
