/** The one shape that each kind of artifact has. */
import type { Arch, Artifact, ArtifactOf } from '../../schemas/recipe.ts';
import type { World } from '../../shared/world.ts';
import type { Source, SourceFile } from './source.ts';

/** What a kind is handed before anything is built. */
export interface Asked {
  arch: Arch;
  source: Source;
  world: World;
  /** Directory with copies of archives, looked through before anything is downloaded. */
  archives?: string;
  /** A copy of the interpreter's archive, whatever it is called. */
  pythonArchive?: string;
  /** TinyGo's program, when it isn't the PATH's. */
  tinygo?: string;
}

/** What is known of an artifact before it is built; two equal ones give the same bytes. */
export interface Prepared {
  /** Program → its version. */
  toolchains: Record<string, string>;
  /** What it is built from, of the source tree. */
  files: SourceFile[];
  /** Lockfiles and archives → digest. */
  pins: Record<string, string>;
  version?: string;
  /** Further lines of VERSIONS. */
  versions?: Record<string, string>;
  /** What stands in the way: programs that are missing or of another version, lockfiles that pin too little. */
  problems: string[];
}

export interface BuildPlace {
  /** A copy of the files alone. */
  sources: string;
  /** Where the results go, as in the bundle. */
  out: string;
  /** For whatever else is needed; removed afterwards. */
  scratch: string;
  say(text: string): void;
}

export interface Kind<K extends Artifact['kind']> {
  /** How messages call it. */
  name(artifact: ArtifactOf<K>): string;
  /** Looks, and builds nothing. */
  prepare(artifact: ArtifactOf<K>, asked: Asked): Promise<Prepared>;
  build(artifact: ArtifactOf<K>, asked: Asked, place: BuildPlace): Promise<void>;
}

export const nothing = (): Prepared => ({ toolchains: {}, files: [], pins: {}, problems: [] });
