/** `model`: the objects of one model, in the order in which they have to be applied: the policy before the pods that it is for. */
import { EXIT, type Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { type PinnedModel, readModel } from '../../shared/task-run/models.ts';
import { modelUrl } from '../../shared/task-run/names.ts';
import { documents } from '../../shared/task-run/print.ts';
import { stagedProblems, taskSettings } from '../../shared/task-run/settings.ts';
import type { ModelFacts } from './facts.ts';
import { deployment, deploymentProblems } from './manifests/deployment.ts';
import { fetchJob } from './manifests/fetch.ts';
import { networkPolicy } from './manifests/policy.ts';
import { service } from './manifests/service.ts';
import { type ModelCall, type ModelVerb, printFlags } from './flags.ts';

const relaxedOf = ({ engine }: PinnedModel): string[] =>
  engine.user === 0
    ? ['The engine runs as root, without capabilities: its image can run as nobody else.']
    : ['All pods keep the restricted Pod Security level.'];

export const print: ModelVerb = {
  about: 'prints the objects of one model: policy, Service, fetch Job, Deployment; no cluster',
  flags: [...(Object.keys(printFlags) as (keyof typeof printFlags)[]), 'json'],
  async run({ flags, world, talk }: ModelCall): Promise<Exit> {
    const values = await taskSettings(world, flags, ['trialPVC', 'modelPVC'], stagedProblems(flags.staged));
    const model = readModel(flags, world);
    const hub = flags.hub ?? model.model.hub;
    if (!/^https?:\/\/[^\s@?#]+$/.test(hub))
      throw usage(`flag '--hub': expected an http or https address without a user, found '${hub}'`);
    const facts: ModelFacts = {
      model,
      staged: flags.staged!,
      values,
      hub,
      allowOpenNetwork: flags['allow-open-network'],
    };
    const problems = deploymentProblems(facts);
    if (problems.length > 0) throw usage(problems);
    const objects = [networkPolicy(facts), service(facts), fetchJob(facts), deployment(facts)];
    const url = modelUrl(model.id, values.namespace);
    talk.info(`'${model.id}' will be at ${url}`);
    await talk.flushed();
    await world.stdout.write(
      flags.json
        ? jsonText({ id: model.id, pin: model.pin, url, objects })
        : documents(objects, [
            `model ${model.id}: ${model.model.repository} at ${model.model.revision}, pin ${model.pin}`,
            `engine ${model.model.engine} ${model.engine.version}, at ${url}`,
            '',
            ...relaxedOf(model),
          ]),
    );
    return EXIT.done;
  },
};
