import { join } from 'node:path';
import { z } from 'zod';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { UserError } from '../../lib/error.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { projectPaths } from '../../store/directories.ts';
import { readText } from '../../store/files.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { listWikiClaimsFiles } from '../open/wiki-claims-files.ts';
import { loadReviewedConflicts } from '../review/review.ts';
import { planQuery } from './query.ts';
import { readWikiSections } from './wiki.ts';

const maxSubjects = 8;

/**
 * The subjects behind a query id, a number or a sentence: the metrics of the answer with that id,
 * the contested metric that gives the number, or the wiki sections and claims that contain the
 * sentence. Undefined if the text is none of these.
 */
export async function traceToSubjects(
  project: Project,
  text: string,
): Promise<readonly string[] | undefined> {
  if (/^q_[0-9a-z]{8,}$/.test(text)) return subjectsOfAnswer(project, text);
  if (/^[\d.,']+$/.test(text)) return subjectsOfNumber(project, text);
  return /\s/.test(text.trim()) ? subjectsOfSentence(project, text) : undefined;
}

/** One line of the tool log. */
const toolCallSchema = z.object({
  tool: z.string(),
  call: z.string(),
  query: z.string().optional(),
  input: z.unknown(),
});

/**
 * Finds the query in the log of tool calls and plans it again, on the model files as they are now.
 */
async function subjectsOfAnswer(project: Project, id: string): Promise<readonly string[]> {
  const { tool, input } = await findLoggedCall(project, id);
  if (tool !== 'query_metrics')
    throw noDefinition(
      `${id} ran SQL that was written by hand: no metric defines its numbers.`,
      'ktx sql --lint says which metrics would answer it.',
    );
  const { connection } = z.object({ connection: z.string().optional() }).parse(input);
  const queryKeys = Object.entries(input ?? {}).filter(([key]) => key in querySchema.shape);
  const query = querySchema.parse(Object.fromEntries(queryKeys));
  const planned = await planQuery(project, { connection, query });
  const metrics = planned.receipt.metrics.flatMap(({ metric }) =>
    metric === undefined ? [] : [`metric:${planned.connection}.${metric}`],
  );
  if (metrics.length > 0) return [...new Set(metrics)];
  const owners = planned.receipt.metrics.flatMap((metric) => metric.owners).join(', ');
  throw noDefinition(
    `${id} asked for ad hoc aggregates: no metric defines its numbers.`,
    `They aggregate rows of ${owners}: ktx explain <dataset>.`,
  );
}

function noDefinition(message: string, hint: string): UserError {
  return new UserError('no_definition', message, { hint, exitCode: 2 });
}

async function findLoggedCall(
  { dir }: Project,
  id: string,
): Promise<z.infer<typeof toolCallSchema>> {
  const { logs } = projectPaths(dir);
  for (const name of ['tools.jsonl', 'tools.1.jsonl']) {
    const lines = ((await readText(join(logs, name), dir)) ?? '')
      .split('\n')
      .filter((line) => line.includes(id));
    const call = lines
      .flatMap((line) => toolCallSchema.safeParse(JSON.parse(line)).data ?? [])
      .find((logged) => logged.query === id || logged.call === id);
    if (call !== undefined) return call;
  }
  throw new UserError('query_unknown', `There is no answer with the id ${id}.`, {
    hint: 'The log in .ktx has only the answers that were given on this machine.',
    exitCode: 2,
  });
}

/** Ktx stores numbers only for contested metrics: what each version gives. */
async function subjectsOfNumber(project: Project, text: string): Promise<readonly string[]> {
  const number = Number(text.replaceAll(/[,']/g, ''));
  const isSameNumber = (value: unknown) =>
    value !== null && value !== undefined && Math.abs(Number(value) - number) < 0.5;
  const matches = (await loadReviewedConflicts(project)).filter(({ variants }) =>
    variants.some((variant) => isSameNumber(variant.number?.value)),
  );
  if (matches.length > 0) return [...new Set(matches.map(({ subject }) => subject))];
  throw new UserError('number_unknown', `${text} matches no stored metric value.`, {
    hint: 'Name the metric, or the query id that came with the number.',
    exitCode: 2,
  });
}

async function subjectsOfSentence(
  project: Project,
  sentence: string,
): Promise<readonly string[] | undefined> {
  const words = normalizeProse(sentence);
  const contains = (text: unknown) =>
    typeof text === 'string' && normalizeProse(text).includes(words);
  const fromWiki = (await readWikiSections(project))
    .filter((section) => contains(section.text))
    .map(({ subject }) => subject);
  const claimFiles = await Promise.all(
    project.warehouses.map((name) => listProjectFiles(project.dir, `claims/${name}`, /\.jsonl$/)),
  );
  const wikiFiles = await listWikiClaimsFiles(project.dir);
  const fromClaims = [...claimFiles.flat(), ...wikiFiles].map(async (path) => {
    const text = (await readText(join(project.dir, path), project.dir)) ?? '';
    return parseClaims(path, text)
      .claims.filter(
        ({ body, evidence }) => contains(body) || evidence.some(({ quote }) => contains(quote)),
      )
      .map(({ subject }) => subject);
  });
  const subjects = new Set([...fromWiki, ...(await Promise.all(fromClaims)).flat()]);
  const explainable = [...subjects].filter((subject) => !subject.startsWith('page:'));
  return explainable.length === 0 ? undefined : explainable.slice(0, maxSubjects);
}

/** Lower case, without emphasis and quotes, on one line: as people read it. */
function normalizeProse(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[*_`>"“”]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
