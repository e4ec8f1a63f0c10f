import type { GeneratedCell, GeneratedColumn } from '../generated-database.ts';

/** A table that is being generated. */
export interface Entity {
  words: string[];
  kind: 'people' | 'thing' | 'event' | 'lookup';
  table: string;
  /** The prefix of all its columns, such as `l_`; often empty. */
  prefix: string;
  rows: number;
  /** Values of the primary key; empty for a table to which nothing refers. */
  key: GeneratedCell[];
  keyName: string;
  keyType: string;
  columns: GeneratedColumn[];
}

export function hasColumn(entity: Entity, name: string): boolean {
  return entity.columns.some((column) => column.name.toLowerCase() === name.toLowerCase());
}
