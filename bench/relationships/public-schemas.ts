import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { GeneratedDatabase } from './generated-database.ts';
import { readSchemaText } from './schema-text.ts';
import { buildDatabase } from './schema-builder.ts';

const folder = join(import.meta.dirname, 'public-schemas');

/**
 * Scored only, never trained on. They were written before anybody had seen a score of them, each
 * with a pattern that the others lack; later rules were chosen with their scores in sight.
 */
const setAside = ['airline', 'code-hosting', 'erp-modules', 'helpdesk', 'importers', 'insurance'];

type NamedDatabases = Readonly<Record<string, () => GeneratedDatabase>>;

/**
 * The schemas of public databases, written down from memory of them and from their documentation,
 * with rows made for them. The weights are trained on those that are not set aside.
 */
const publicSchemas: NamedDatabases = Object.fromEntries(
  readdirSync(folder)
    .sort()
    .map((file) => {
      const name = basename(file, '.txt');
      const text = (): string => readFileSync(join(folder, file), 'utf8');
      return [name, () => buildDatabase(name, readSchemaText(text()))];
    }),
);

const only = (wanted: (name: string) => boolean): NamedDatabases =>
  Object.fromEntries(Object.entries(publicSchemas).filter(([name]) => wanted(name)));

export const publicSeen = only((name) => !setAside.includes(name));
export const publicUnseen = only((name) => setAside.includes(name));
