/** cargo: a Rust program, with its lockfile, for a target of the bundle's architecture. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactOf } from '../../../schemas/recipe.ts';
import { sha256 } from '../../../shared/files.ts';
import { readText } from '../../../shared/read.ts';
import type { World } from '../../../shared/world.ts';
import { cacheOf } from '../cache.ts';
import { cargoSettingsProblems } from '../cargo-settings.ts';
import { buildEnv, runBuild } from '../command.ts';
import { type Asked, type Kind, nothing } from '../kind.ts';
import { dependenciesIn, refuseOutsiders } from '../made-of.ts';
import { answerOf } from '../answer.ts';
import { cargoLockProblems } from '../text-locks.ts';

const CPUS = { amd64: 'x86_64', arm64: 'aarch64' } as const;

const triple = ({ libc }: ArtifactOf<'cargo'>, { arch }: Asked): string =>
  `${CPUS[arch]}-unknown-linux-${libc}`;

/** Programs that link for another machine, by target. */
const LINKERS: Readonly<Record<string, string>> = {
  'aarch64-unknown-linux-gnu': 'aarch64-linux-gnu-gcc',
  'x86_64-unknown-linux-gnu': 'x86_64-linux-gnu-gcc',
};

/** The one that comes with Rust; it has Rust's version. */
const OWN = 'rust-lld';

/** How a target is linked here: with the machine's own linker, another one, or the one that comes with Rust. */
const linker = (target: string, host: string): string | undefined =>
  target === host ? 'cc' : target.endsWith('-musl') ? OWN : LINKERS[target];

const homeOf = ({ env }: World): string => env['CARGO_HOME'] ?? join(env['HOME'] ?? homedir(), '.cargo');

const hostOf = (about: string): string => /^host: (.*)$/m.exec(about)?.[1] ?? '';

/**
 * The environment of cargo, with the toolchain by name that rustup takes in the tree: a rust-toolchain.toml may stand above what
 * is copied. What is here builds; rustup fetches nothing behind the user's back.
 */
const rustEnv = async (
  directory: string,
  { source, world }: Asked,
): Promise<Record<string, string | undefined>> => {
  const env = buildEnv(world, { RUSTUP_AUTO_INSTALL: '0' });
  const asking = ['rustup', 'show', 'active-toolchain'];
  const said = await answerOf(asking, env, join(source.top, directory), world.interrupted);
  const name = said?.split(/\s/)[0];
  return name === undefined || name === '' ? env : { ...env, RUSTUP_TOOLCHAIN: name };
};

export const cargo: Kind<'cargo'> = {
  name: ({ name }) => `cargo bin/${name}`,
  async prepare(artifact, asked) {
    const { source, world } = asked;
    const env = await rustEnv(artifact.in, asked);
    const cwd = join(source.top, artifact.in);
    const files = source.below([artifact.in, ...artifact.with]);
    const cargoVersion = (await answerOf(['cargo', '--version'], env, cwd, world.interrupted))?.split(' ')[1];
    const about = await answerOf(['rustc', '-vV'], env, cwd, world.interrupted);
    const problems = cargoSettingsProblems(cacheOf(world.env), homeOf(world));
    const toolchains: Record<string, string> = {
      cargo: cargoVersion ?? '',
      rustc: about?.split('\n')[0]?.split(' ')[1] ?? '',
    };
    if (cargoVersion === undefined || about === undefined)
      problems.push(
        `'cargo' and 'rustc' don't both run in '${artifact.in}'; install them from https://rustup.rs, with the toolchain that a rust-toolchain.toml of the tree names`,
      );
    else {
      const target = triple(artifact, asked);
      const directory = await answerOf(
        ['rustc', '--print', 'target-libdir', '--target', target],
        env,
        cwd,
        world.interrupted,
      );
      if (directory === undefined || !existsSync(directory))
        problems.push(`Rust has no target '${target}' here; 'rustup target add ${target}' installs it`);
      const program = linker(target, hostOf(about));
      const linked =
        program === undefined || program === OWN
          ? ''
          : await answerOf([program, '--version'], env, cwd, world.interrupted);
      if (linked === undefined)
        problems.push(`'${program}', which links for ${target}, is not on the PATH; install it`);
      // What of the C library stands in a program comes from there, too.
      else if (linked !== '') toolchains[program!] = linked.split('\n')[0]!;
    }
    const lock = [join(artifact.in, 'Cargo.lock'), 'Cargo.lock'].find((one) =>
      files.some((file) => file.path === one),
    );
    if (lock === undefined)
      problems.push(`'${artifact.in}' has no committed Cargo.lock; 'cargo generate-lockfile' makes one`);
    const text = lock === undefined ? undefined : readText(join(source.top, lock), lock);
    if (text !== undefined) problems.push(...cargoLockProblems(text, lock!));
    const pins = text === undefined ? {} : { [lock!]: sha256(text) };
    return { ...nothing(), files, toolchains, pins, problems };
  },
  async build(artifact, asked, { sources, out, scratch }) {
    const { world } = asked;
    const target = triple(artifact, asked);
    const home = homeOf(world);
    const cwd = join(sources, artifact.in);
    const rust = await rustEnv(artifact.in, asked);
    const about = await answerOf(['rustc', '-vV'], rust, cwd, world.interrupted);
    const program = linker(target, hostOf(about ?? ''));
    // Where it is built stands in no program: panics name their place in the source tree.
    const flags = [
      `--remap-path-prefix=${sources}=/src`,
      `--remap-path-prefix=${home}=/cargo`,
      '-Cstrip=symbols',
    ];
    if (program !== undefined) flags.push(`-Clinker=${program}`);
    if (program === OWN) flags.push('-Clink-self-contained=yes');
    const env = {
      ...rust,
      CARGO_TARGET_DIR: join(scratch, 'target'),
      CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f'),
      CARGO_INCREMENTAL: '0',
      CARGO_BUILD_RUSTC_WRAPPER: '',
      CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER: '',
    };
    await runBuild(['cargo', 'build', '--locked', '--release', '--target', target, '--bin', artifact.name], {
      cwd,
      env,
      interrupted: world.interrupted,
    });
    const built = join(scratch, 'target', target, 'release', artifact.name);
    refuseOutsiders(dependenciesIn(readText(`${built}.d`)), [sources, scratch]);
    mkdirSync(join(out, 'bin'), { recursive: true });
    copyFileSync(built, join(out, 'bin', artifact.name));
  },
};
