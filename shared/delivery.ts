/** What a session in a cluster needs to be set: where, and what reaches the pod, pinned. Spec §1. Pure. */
import type { Configuration } from './configuration.ts';

/** An image reference (distribution reference grammar), with tag, digest or both. */
const HOST = String.raw`(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?`;
const PART = String.raw`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`;
const IMAGE = new RegExp(
  String.raw`^(?:${HOST}/)?${PART}(?:/${PART})*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

const imageProblems = (image: string, from: string | undefined, unpinned: boolean): string[] => {
  if (!IMAGE.test(image))
    return [`${from}: '${image}' is not an image reference such as registry.example/name@sha256:<64 hex>`];
  return image.includes('@sha256:') || unpinned
    ? []
    : [
        `${from}: '${image}' is not pinned: write its digest, @sha256:<64 hex>, or allow a tag with --allow-unpinned-image`,
      ];
};

/** What is missing, exclusive or not pinned among namespace, image, bundle and base image. */
export const deliveryProblems = ({ values, from }: Configuration): string[] => {
  const problems: string[] = [];
  const [image, bundle] = [from('image'), from('bundle')];
  if (!image && !bundle)
    problems.push(
      'nothing says what to run and where: --image or --bundle for a cluster, --local for this machine',
    );
  if (image && bundle)
    problems.push(`image (${image}) and bundle (${bundle}) exclude each other; leave one out`);
  if (!from('namespace'))
    problems.push('no namespace: set it with --namespace, $K8SBENCH_NAMESPACE or in the values file');
  if (values.image) problems.push(...imageProblems(values.image, image, values.allowUnpinnedImage));
  if (bundle && !from('baseImage'))
    problems.push(
      'no base image: a bundle needs one, an official Node image by digest; set it with --base-image, $K8SBENCH_BASE_IMAGE or baseImage in the values file',
    );
  if (values.baseImage)
    problems.push(...imageProblems(values.baseImage, from('baseImage'), values.allowUnpinnedImage));
  return problems;
};
