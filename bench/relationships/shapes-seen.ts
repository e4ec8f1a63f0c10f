import type { GeneratedDatabase } from './generated-database.ts';
import { buildDatabase } from './schema-builder.ts';
import { blog } from './shapes-seen/blog.ts';
import { copies } from './shapes-seen/copies.ts';
import { japanese } from './shapes-seen/japanese.ts';
import { league } from './shapes-seen/league.ts';
import { omop } from './shapes-seen/omop.ts';
import { rails } from './shapes-seen/rails.ts';
import { resellers } from './shapes-seen/resellers.ts';
import { vault } from './shapes-seen/vault.ts';

/**
 * Schemas of warehouses and applications, written by hand. Rules are developed on them, and the
 * weights are trained on them.
 */
export const shapesSeen: Readonly<Record<string, () => GeneratedDatabase>> = Object.fromEntries(
  Object.entries({ vault, omop, blog, japanese, resellers, copies, league, rails }).map(
    ([name, schema]) => [name, () => buildDatabase(name, schema)],
  ),
);
