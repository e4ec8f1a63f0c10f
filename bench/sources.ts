import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiSources, type FarEnd } from '../test/contract/api-sources.ts';
import { configureSource, ingestInProcess } from '../test/contract/source-process.ts';
import { shopProject } from '../test/ingest/ingest-project.ts';

/**
 * The most memory that an ingest of each source behind an API has, with its few objects and with
 * 10,000 more: `node bench/sources.ts [<objects> [<source>]]`.
 */
const objects = Number(process.argv[2] ?? 10_000);
const only = process.argv[3];

const settings = mkdtempSync(join(tmpdir(), 'ktx-sources-bench-'));
process.env['XDG_CONFIG_HOME'] = settings;
try {
  for (const [name, openFarEnd] of Object.entries(apiSources))
    if (only === undefined || name.startsWith(only)) await measure(name, openFarEnd);
} finally {
  rmSync(settings, { recursive: true, force: true });
}

async function measure(name: string, openFarEnd: () => Promise<FarEnd>): Promise<void> {
  const far = await openFarEnd();
  const dir = shopProject();
  try {
    await configureSource(dir, far);
    const few = await ingestInProcess(dir, far);
    far.addMany(objects);
    const many = await ingestInProcess(dir, far);
    const unchanged = await ingestInProcess(dir, far);
    const [before, peak, again] = [few, many, unchanged].map((end) => Math.round(end.megabytes));
    const seconds = Math.round(many.milliseconds / 1000);
    process.stdout.write(
      `${name}: few ${before} MB; ${objects} more ${peak} MB in ${seconds} s, exit ${many.code}; unchanged ${again} MB\n`,
    );
  } finally {
    await far.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
