import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IngestReport } from '../src/ingest/report.ts';
import { ingestProject } from '../src/project/learn/ingest.ts';
import { openProject } from '../src/project/open/open.ts';
import { loopTools } from '../src/tools/loop-tools.ts';
import { approve } from '../test/support/approve.ts';
import { openModelEndpoint } from '../test/support/model-endpoint.ts';
import { reading } from '../test/support/reading-model.ts';

/**
 * Times three ingests of a small warehouse and a handbook of 1,000 pages, which a scripted model
 * reads: the first one, one of unchanged input, and one after a page has changed. Fails unless the
 * ingest of unchanged input ends within five seconds, without a call or a commit.
 */
const pages = Number(process.argv[2] ?? 1000);

process.env['TEST_KEY'] = 'sk-made-up';
const settings = mkdtempSync(join(tmpdir(), 'ktx-ingest-bench-settings-'));
process.env['XDG_CONFIG_HOME'] = settings;
const endpoint = await openModelEndpoint();
let calls = 0;
endpoint.fallback = (call) => {
  calls += 1;
  return reading(call);
};
const dir = mkdtempSync(join(tmpdir(), 'ktx-ingest-bench-'));
try {
  prepare();
  await approve(dir);
  tell('first', await timed());
  tell('unchanged', await timed());
  tell('unchanged', await timed());
  writeFileSync(join(dir, 'docs/page500.md'), pageOf(500, 'Another thing altogether.'));
  tell('one changed', await timed());
} finally {
  rmSync(dir, { recursive: true });
  rmSync(settings, { recursive: true });
  await endpoint.close();
}

function prepare(): void {
  const db = new DatabaseSync(join(dir, 'shop.sqlite'));
  db.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, amount INTEGER, status TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO orders SELECT i, i * 3 % 90, 'paid' FROM n;`);
  db.close();
  mkdirSync(join(dir, 'docs'));
  for (let page = 0; page < pages; page += 1)
    writeFileSync(join(dir, `docs/page${page}.md`), pageOf(page, `What ${page} is.`));
  const connections =
    'shop: {driver: sqlite, path: shop.sqlite}\n  handbook: {driver: docs, path: docs}';
  const llm = `llm:\n  provider: {backend: anthropic, anthropic: {api_key: env:TEST_KEY, base_url: ${endpoint.url}/v1}}\n  models: {default: claude-sonnet-4-6}\n`;
  writeFileSync(join(dir, 'ktx.yaml'), `connections:\n  ${connections}\n${llm}`);
  writeFileSync(join(dir, '.gitignore'), 'shop.sqlite\n');
  execFileSync('git', ['init', '-q'], { cwd: dir });
}

function pageOf(page: number, definition: string): string {
  return `# Page ${page}\n\nA thing of page ${page} means prose that only a model reads.\n\n| Term | Definition |\n|---|---|\n| Word ${page} | ${definition} |\n`;
}

async function timed(): Promise<{ ms: number; calls: number; report: IngestReport }> {
  const project = await openProject(dir);
  try {
    const start = performance.now();
    calls = 0;
    const report = await ingestProject(project, {
      connections: [],
      signal: AbortSignal.timeout(600_000),
      tools: loopTools(project),
    });
    return { ms: performance.now() - start, calls, report };
  } finally {
    await project.close();
  }
}

function tell(what: string, { ms, calls: made, report }: Awaited<ReturnType<typeof timed>>): void {
  const { files, commit, milliseconds } = report;
  const changed = files.added.length + files.changed.length + files.removed.length;
  const stages = Object.entries(milliseconds)
    .map(([stage, took]) => `${stage} ${took}`)
    .join(', ');
  console.log(
    `${what.padEnd(12)} ${(ms / 1000).toFixed(2)} s, ${made} calls, ${changed} files, ${commit.id === undefined ? 'no commit' : 'a commit'} (${stages})`,
  );
}
