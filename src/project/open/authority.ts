import { z } from 'zod';
import { type Authority, authorityTopics } from '../../context/compile/authority.ts';
import type { ProjectConfig } from './config.ts';

const rankedSourcesSchema = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .describe('Connections or kinds of source, like handbook or dbt; the first counts most.');

/** The `authority` section of `ktx.yaml`. */
export const authorityConfigSchema = z
  .strictObject(
    Object.fromEntries(
      ['default' as const, ...authorityTopics].map((topic) => [topic, rankedSourcesSchema]),
    ) as Record<'default' | (typeof authorityTopics)[number], typeof rankedSourcesSchema>,
  )
  .describe(
    'Which source is shown where sources disagree and nobody has decided; by kind of subject, or `default`. Without it: dbt and MetricFlow, then BI tools, documents, notes; what code reads before what a model reads.',
  );

/** The ranks of the sources of a project, and the kind of each. */
export function readAuthority({ authority, connections }: ProjectConfig): Authority {
  return {
    order: authority,
    kinds: Object.fromEntries(
      Object.entries(connections).map(([name, { driver }]) => [name, driver]),
    ),
    today: new Date().toISOString().slice(0, 10),
  };
}
