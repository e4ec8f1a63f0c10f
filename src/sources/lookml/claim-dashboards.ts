import { z } from 'zod';
import { readLocatedYaml } from '../../lib/yaml/located-yaml.ts';
import type { ClaimCollector } from '../claim-collector.ts';
import { claimExposure } from '../claim-exposure.ts';
import { type KnownExplores, tablesOfQuery, translateQuery } from '../looker/translate-query.ts';
import type { Item } from '../source.ts';

const words = z.string().nullish().catch(undefined);
const values = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const elementSchema = z.looseObject({
  model: z.string(),
  explore: z.string(),
  fields: z.array(z.string()).optional(),
  filters: z.record(z.string(), values.nullable()).optional(),
  filter_expression: words,
  sorts: z.array(z.string()).optional(),
  limit: values.optional(),
  dynamic_fields: z.unknown().optional(),
});
const textSchema = z.looseObject({
  type: z.literal('text'),
  title_text: words,
  subtitle_text: words,
  body_text: words,
});
const dashboardSchema = z.looseObject({
  dashboard: z.union([z.string(), z.number()]).transform(String),
  title: words,
  description: words,
  elements: z.array(z.unknown()).nullish().catch(undefined),
});

/**
 * A term for each dashboard that the files define, with the tables of its elements behind it, and
 * their queries as ktx asks them.
 */
export function claimDashboards(
  items: readonly Item[],
  known: KnownExplores,
  collector: ClaimCollector,
): void {
  for (const { key, body } of items) {
    const yaml = readLocatedYaml(body);
    if ('broken' in yaml) {
      const { line, reason } = yaml.broken;
      collector.addProblem({ key, line }, `file ${key}: left out: it is not valid YAML: ${reason}`);
      continue;
    }
    for (const entry of yaml.documents.flat()) {
      const lineOf = (holder: unknown) => yaml.locate(holder).line;
      claimDashboard({ key, entry, lineOf }, known, collector);
    }
  }
}

interface WrittenDashboard {
  /** The file. */
  readonly key: string;
  readonly entry: unknown;
  /** The line of an entry of the file. */
  readonly lineOf: (holder: unknown) => number;
}

function claimDashboard(
  { key, entry, lineOf }: WrittenDashboard,
  known: KnownExplores,
  collector: ClaimCollector,
): void {
  const line = lineOf(entry);
  const { data: dashboard } = dashboardSchema.safeParse(entry);
  if (dashboard === undefined)
    return collector.addProblem({ key, line }, 'left out: it is no dashboard with a name');
  const { dashboard: name, title, description, elements } = dashboard;
  const read = (elements ?? []).map((element) => ({
    place: { key, line: lineOf(element) },
    query: queryOf(element),
    text: textOf(element),
  }));
  const asked = read.flatMap(({ place, query, text }) => {
    if (text !== '') collector.addUnread(place, { what: 'prose', text });
    if (query === undefined) return [];
    const translated = translateQuery(query, known);
    if ('query' in translated) {
      collector.count(place);
      return [`Query: ${JSON.stringify(translated.query)}`];
    }
    collector.leaveOut(place, {
      what: 'query that ktx cannot ask',
      name: `dashboard ${name}: ${translated.reason}`,
    });
    return [];
  });
  const queries = read.flatMap(({ query }) => query ?? []);
  claimExposure(
    {
      name: `${title?.trim() || name} (LookML dashboard ${name})`,
      description: [...(description?.trim() ? [description.trim()] : []), ...asked].join('\n\n'),
      tables: queries.flatMap((query) => tablesOfQuery(query, known)),
      tags: [],
      confidence: 0.6,
    },
    { key, line, quote: description ?? title ?? name },
    collector,
  );
}

/** The query of an element, in the form of Looker's API. */
function queryOf(element: unknown) {
  const { data } = elementSchema.safeParse(element);
  if (data === undefined) return undefined;
  const { explore: view, dynamic_fields: dynamic, ...query } = data;
  const text = typeof dynamic === 'string' ? dynamic : JSON.stringify(dynamic ?? []);
  return { ...query, view, dynamic_fields: text };
}

function textOf(element: unknown): string {
  const { data } = textSchema.safeParse(element);
  const parts = [data?.title_text, data?.subtitle_text, data?.body_text];
  return parts
    .flatMap((part) => part?.trim() || [])
    .join('\n\n')
    .trim();
}
