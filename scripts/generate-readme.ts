// Writes the parts of README.md that come from the demo: its figures and the picture of its joins.
// A test runs the same functions and fails where the README shows anything else.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { drawSvg } from '../src/project/graph/draw-svg.ts';

const root = join(import.meta.dirname, '..');

const endSchema = z.object({ table: z.string(), columns: z.array(z.string()) });
const byRegionSchema = z.object({
  by_region: z.array(z.object({ region: z.string().nullable(), revenue: z.number() })),
  total: z.number(),
});

/** What the README uses of `ktx demo --json`. */
const demoSchema = z.object({
  found: z.object({
    tables: z.array(z.string()),
    links: z.array(
      z.object({
        from: endSchema,
        to: endSchema,
        status: z.enum(['accepted', 'review', 'rejected']),
        role: z.string().optional(),
      }),
    ),
  }),
  contested: z.object({
    subject: z.string(),
    versions: z.array(z.object({ by: z.string(), says: z.string(), gives: z.number() })),
  }),
  comparison: z.object({
    semantic_layer: byRegionSchema,
    inner_join: byRegionSchema,
    wrong_role: byRegionSchema,
  }),
});

export type DemoReport = z.infer<typeof demoSchema>;

/** Runs the demo in a new folder. */
export function runDemo(): DemoReport {
  const folder = mkdtempSync(join(tmpdir(), 'ktx-readme-'));
  try {
    const args = ['src/cli/main.ts', 'demo', '--dir', join(folder, 'demo'), '--json'];
    const printed = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    const envelope = JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '') as { data: unknown };
    return demoSchema.parse(envelope.data);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files that the demo decides, by path below the root. */
export function readmeFiles(demo: DemoReport): Readonly<Record<string, string>> {
  let readme = readFileSync(join(root, 'README.md'), 'utf8');
  readme = replaceBlock(readme, 'wrong-sql', wrongSqlTable(demo));
  readme = replaceBlock(readme, 'two-truths', twoTruthsTable(demo));
  return { 'README.md': readme, 'docs/images/join-graph.svg': joinGraph(demo) };
}

function replaceBlock(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- demo:${name} -->`, `<!-- /demo:${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`README.md has no block ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`;
}

/** Revenue by region from ktx and from two queries that a model could write. */
function wrongSqlTable({ comparison }: DemoReport): string {
  const { semantic_layer: right, inner_join: inner, wrong_role: role } = comparison;
  const rows = right.by_region.map(({ region, revenue }) => {
    const cell = (other: z.infer<typeof byRegionSchema>) => {
      const found = other.by_region.find((row) => row.region === region);
      if (found === undefined) return '**missing**';
      return found.revenue === revenue ? whole(found.revenue) : `**${whole(found.revenue)}**`;
    };
    return [region ?? '(no region)', whole(revenue), cell(inner), cell(role)];
  });
  const totals = [inner, role].map(({ total }) =>
    total === right.total ? whole(total) : `**${whole(total)}**`,
  );
  return markdownTable(
    ['region', 'ktx', 'SQL with `JOIN`', 'SQL with the other customer column'],
    [...rows, ['total', whole(right.total), ...totals]],
  );
}

function twoTruthsTable({ contested }: DemoReport): string {
  const rows = contested.versions.map(({ by, says, gives }) => [by, `\`${says}\``, whole(gives)]);
  return markdownTable(
    ['source', `definition of \`${metricName(contested.subject)}\``, 'result'],
    rows,
  );
}

function metricName(subject: string): string {
  return subject.replace(/^metric:\w+\./, '');
}

/** The first column is text, the others are aligned to the right. */
function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = header.map((_, index) => (index === 0 ? '---' : '---:'));
  return [header, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function joinGraph({ found }: DemoReport): string {
  const joins = found.links
    .filter(({ status }) => status !== 'rejected')
    .map(({ from, to, status, role }) => ({
      from: from.table,
      to: to.table,
      label: role ?? from.columns.join(', '),
      isInDoubt: status === 'review',
    }));
  return drawSvg({ joins, title: 'The joins that ktx found in a warehouse without declared keys' });
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(readmeFiles(runDemo())))
    writeFileSync(join(root, path), text);
}
