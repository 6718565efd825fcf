#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { text, yes } from '../../shared/flags.ts';
import { jsonText } from '../../shared/read.ts';
import { comment, documents } from '../../shared/task-run/print.ts';
import { settingFlags, taskSettings } from '../../shared/task-run/settings.ts';
import { packBundle } from './archive.ts';
import { copyCommands, stageJob } from './job.ts';

const more = `
WHAT IT PRINTS

  The Job as YAML. Behind it, as comments: the archive's SHA-256, which 'model' and 'trials' take as --staged, and the
  commands that bring the archive into the Job's pod. It contacts no cluster.
  --json prints {sha256, path, size_bytes, unpacked_bytes, manifest, commands} instead.

EXAMPLES

  k8sbench stage --bundle trial-bundle > stage.yaml && kubectl apply -f stage.yaml
`;

export const tool = defineTool({
  name: 'stage',
  about: "packs a trial bundle and prints the Job that unpacks it onto the trials' claim",
  flags: {
    bundle: text("a bundle with tasks, as 'bundle build --tasks' makes it", 'DIR'),
    out: text('the archive (default: DIR.tar.gz)', 'FILE'),
    json: yes('print JSON'),
    ...settingFlags,
  },
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  async run({ flags, world, talk }) {
    const { bundle, out, json, ...settings } = flags;
    const missing = bundle === undefined ? ["'--bundle=<DIR>' is missing: the bundle to stage"] : [];
    const values = await taskSettings(world, settings, ['trialPVC'], missing);
    if (out === '-') throw usage("flag '--out': the archive goes into a file");
    const archive = await packBundle(world, bundle!, out);
    const [manifest, commands] = [stageJob(archive, values), copyCommands(archive, values)];
    talk.info(`${archive.path}: ${(archive.size_bytes / 1e6).toFixed(1)} MB, SHA-256 ${archive.sha256}`);
    await talk.flushed();
    await world.stdout.write(
      json
        ? jsonText({ ...archive, manifest, commands })
        : documents([manifest]) + comment(['', `staged ${archive.sha256}`, '', ...commands]),
    );
    return EXIT.done;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
