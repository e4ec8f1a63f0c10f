import type { z } from 'zod';
import { confluenceConfigSchema } from './confluence/config.ts';
import { dbtConfigSchema } from './dbt/config.ts';
import { docsConfigSchema } from './docs/config.ts';
import { lookerConfigSchema } from './looker/config.ts';
import { lookmlConfigSchema } from './lookml/config.ts';
import { metabaseConfigSchema } from './metabase/config.ts';
import { metricflowConfigSchema } from './metricflow/config.ts';
import { notionConfigSchema } from './notion/config.ts';

/** The list of sources: the name, the title in lists and help, and the configuration of each. */
export const sourceDrivers = [
  { name: 'confluence', title: 'pages of Confluence', config: confluenceConfigSchema },
  { name: 'dbt', title: 'a dbt project', config: dbtConfigSchema },
  { name: 'docs', title: 'a folder of documents', config: docsConfigSchema },
  { name: 'looker', title: 'a Looker server', config: lookerConfigSchema },
  { name: 'lookml', title: 'LookML of a Looker project', config: lookmlConfigSchema },
  { name: 'metabase', title: 'a Metabase server', config: metabaseConfigSchema },
  { name: 'metricflow', title: 'semantic models in YAML', config: metricflowConfigSchema },
  { name: 'notion', title: 'pages and databases of Notion', config: notionConfigSchema },
] as const;

/** Sources whose items are documents that people read. */
export const proseSources = ['confluence', 'docs', 'notion'] as const;

/** The configurations of a connection in `ktx.yaml` that is a source. */
export const sourceConfigSchemas = [
  confluenceConfigSchema,
  dbtConfigSchema,
  docsConfigSchema,
  lookerConfigSchema,
  lookmlConfigSchema,
  metabaseConfigSchema,
  metricflowConfigSchema,
  notionConfigSchema,
] as const;
export type SourceConfig = z.infer<(typeof sourceConfigSchemas)[number]>;
