import { join } from 'node:path';
import { z } from 'zod';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { UserError } from '../../lib/error.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { projectPaths } from '../../store/directories.ts';
import { readText } from '../../store/files.ts';
import { listFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { planQuery } from './query.ts';
import { loadReviewedConflicts } from '../review/review.ts';
import { readWikiSections } from './wiki.ts';

const most = 8;

/**
 * The subjects that a number or a sentence speaks of: the metrics behind the answer with that query id, what the wiki or a claim
 * says in these words, the contested metric that gives this number. Undefined where the text is none of these.
 */
export async function traceToSubjects(
  project: Project,
  text: string,
): Promise<readonly string[] | undefined> {
  if (/^q_[0-9a-z]{8,}$/.test(text)) return subjectsOfAnswer(project, text);
  if (/^[\d.,']+$/.test(text)) return subjectsOfNumber(project, text);
  return /\s/.test(text.trim()) ? subjectsOfSentence(project, text) : undefined;
}

const recordSchema = z.object({
  tool: z.string(),
  call: z.string(),
  query: z.string().optional(),
  input: z.unknown(),
});

/** Every answer is in the log of the calls, whoever asked; the question is planned again, by the files as they are now. */
async function subjectsOfAnswer(project: Project, id: string): Promise<readonly string[]> {
  const { tool, input } = await callOf(project, id);
  if (tool !== 'query_metrics') {
    const hint = 'ktx sql --lint says which metrics would answer it.';
    throw new UserError(
      'no_definition',
      `${id} ran SQL as it was written: no metric stands behind its numbers.`,
      { hint, exitCode: 2 },
    );
  }
  const { connection } = z.object({ connection: z.string().optional() }).parse(input);
  const own = Object.entries(input ?? {}).filter(([key]) => key in querySchema.shape);
  const asked = { connection, query: querySchema.parse(Object.fromEntries(own)) };
  const planned = await planQuery(project, asked);
  const metrics = planned.receipt.metrics.flatMap(({ metric }) =>
    metric === undefined ? [] : [`metric:${planned.connection}.${metric}`],
  );
  if (metrics.length > 0) return [...new Set(metrics)];
  const hint = `Its rows are those of ${planned.receipt.metrics.flatMap(({ owners }) => owners).join(', ')}: ktx explain <dataset>.`;
  throw new UserError(
    'no_definition',
    `${id} asked for aggregates of its own: no metric stands behind its numbers.`,
    {
      hint,
      exitCode: 2,
    },
  );
}

async function callOf({ dir }: Project, id: string): Promise<z.infer<typeof recordSchema>> {
  const { logs } = projectPaths(dir);
  for (const name of ['tools.jsonl', 'tools.1.jsonl']) {
    const lines = ((await readText(join(logs, name), dir)) ?? '')
      .split('\n')
      .filter((line) => line.includes(id));
    const found = lines
      .flatMap((line) => recordSchema.safeParse(JSON.parse(line)).data ?? [])
      .find(({ query, call }) => query === id || call === id);
    if (found !== undefined) return found;
  }
  const hint = 'The log in .ktx knows the answers that were given on this machine.';
  throw new UserError('query_unknown', `No answer is known as ${id}.`, { hint, exitCode: 2 });
}

/** Of a contested metric, what each version gives is kept. */
async function subjectsOfNumber(
  project: Project,
  text: string,
): Promise<readonly string[] | undefined> {
  const number = Number(text.replaceAll(/[,']/g, ''));
  const isIt = (value: unknown) =>
    value !== null && value !== undefined && Math.abs(Number(value) - number) < 0.5;
  const conflicts = await loadReviewedConflicts(project);
  const found = conflicts.filter(({ variants }) =>
    variants.some((variant) => isIt(variant.number?.value)),
  );
  if (found.length > 0) return [...new Set(found.map(({ subject }) => subject))];
  const hint = 'Name the metric, or the query id that came with the number.';
  throw new UserError('number_unknown', `${text} is no number that ktx keeps.`, {
    hint,
    exitCode: 2,
  });
}

async function subjectsOfSentence(
  project: Project,
  text: string,
): Promise<readonly string[] | undefined> {
  const wanted = plain(text);
  const says = (one: unknown) => typeof one === 'string' && plain(one).includes(wanted);
  const sections = (await readWikiSections(project))
    .filter((section) => says(section.text))
    .map(({ subject }) => subject);
  const folders = await Promise.all(
    project.warehouses.map((name) => listFiles(project.dir, `claims/${name}`, /\.jsonl$/)),
  );
  const claimed = [...folders.flat(), wikiClaimsPath].map(async (path) => {
    const { claims } = parseClaims(
      path,
      (await readText(join(project.dir, path), project.dir)) ?? '',
    );
    return claims
      .filter(({ body, evidence }) => says(body) || evidence.some(({ quote }) => says(quote)))
      .map(({ subject }) => subject);
  });
  const all = [...new Set([...sections, ...(await Promise.all(claimed)).flat()])].filter(
    (subject) => !subject.startsWith('page:'),
  );
  return all.length === 0 ? undefined : all.slice(0, most);
}

/** As people read it: without emphasis, whatever the case and the breaks of lines. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[*_`>"“”]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
