import type { z } from 'zod';
import { dbtConfigSchema } from './dbt/config.ts';
import { docsConfigSchema } from './docs/config.ts';
import { metricflowConfigSchema } from './metricflow/config.ts';

/** The visible list of sources: what each is called, and what it can be configured with. */
export const sourceDrivers = [
  { name: 'dbt', title: 'a dbt project', config: dbtConfigSchema },
  { name: 'docs', title: 'a folder of documents', config: docsConfigSchema },
  { name: 'metricflow', title: 'semantic models in YAML', config: metricflowConfigSchema },
] as const;

/** What makes one connection of `ktx.yaml` a source. */
export const sourceConfigSchemas = [
  dbtConfigSchema,
  docsConfigSchema,
  metricflowConfigSchema,
] as const;
export type SourceConfig = z.infer<(typeof sourceConfigSchemas)[number]>;
