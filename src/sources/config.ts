import type { z } from 'zod';
import { docsConfigSchema } from './docs/config.ts';

/** The visible list of sources: what each is called, and what it can be configured with. */
export const sourceDrivers = [{ name: 'docs', title: 'a folder of documents', config: docsConfigSchema }] as const;

/** What makes one connection of `ktx.yaml` a source. */
export const sourceConfigSchemas = [docsConfigSchema] as const;
export type SourceConfig = z.infer<(typeof sourceConfigSchemas)[number]>;
