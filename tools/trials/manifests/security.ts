/** Which user a task's image runs as, and what of the restricted Pod Security level its container therefore can't keep. Pure. */

/** What a root user needs to install packages and change users: each is one that the baseline level allows. */
const ROOT_CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

export interface Relaxed {
  what: string;
  why: string;
}

const AS_ROOT: Relaxed = {
  what: `the container 'trial' runs as root, with the capabilities ${ROOT_CAPABILITIES.join(', ')}: the baseline level, not the restricted one`,
  why: "the image's user is root",
};
const AS_NAMED: Relaxed = {
  what: "nothing proves that the container 'trial' does not run as root (no runAsNonRoot); it has no capabilities",
  why: "the image's user is a name, not a number",
};

export interface TrialSecurity {
  context: object;
  relaxed: Relaxed[];
}

/** `user` as the image's configuration has it: `name`, `uid`, either with `:group`; empty is root. */
export const trialSecurity = (user: string): TrialSecurity => {
  const [name = '', group] = user.split(':');
  if (name === '' || name === 'root' || /^0+$/.test(name))
    return {
      context: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: ROOT_CAPABILITIES },
      },
      relaxed: [AS_ROOT],
    };
  const without = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  if (!/^\d+$/.test(name)) return { context: without, relaxed: [AS_NAMED] };
  return {
    context: {
      runAsNonRoot: true,
      runAsUser: Number(name),
      ...(group !== undefined && /^\d+$/.test(group) ? { runAsGroup: Number(group) } : {}),
      ...without,
    },
    relaxed: [],
  };
};
