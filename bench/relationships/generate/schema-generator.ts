import { seededRandom, type GeneratedDatabase, type TrueLink } from '../generated-database.ts';
import { addAttributes } from './attributes.ts';
import { keyValues, referenceValues } from './column-values.ts';
import { type Entity, hasColumn } from './entity.ts';
import { Namer } from './namer.ts';
import { type NamingStyle, randomStyle } from './naming-style.ts';
import { Random } from './random.ts';
import {
  bareRoles,
  entityNames,
  personRoles,
  roleWords,
  selfRoles,
  staffWords,
} from './vocabulary.ts';

/**
 * Generates schemas with known keys and links, in many styles, to train and test relationship
 * discovery. Nothing comes from the databases that the benchmark scores. Equal seeds give equal
 * databases.
 */
export function generateDatabase(seed: number): GeneratedDatabase {
  return new SchemaGenerator(seed).build();
}

class SchemaGenerator {
  private readonly random: Random;
  private readonly style: NamingStyle;
  private readonly namer: Namer;
  private readonly entities: Entity[] = [];
  private readonly links: TrueLink[] = [];
  /** Primary keys by table. */
  private readonly keys: Record<string, string[]> = {};

  constructor(seed: number) {
    const next = seededRandom(seed);
    this.random = new Random(next);
    this.style = randomStyle(next);
    this.namer = new Namer(this.random, this.style);
  }

  build(): GeneratedDatabase {
    const count = 5 + this.random.int(12);
    for (let index = 0; index < count; index += 1) this.addEntity();
    for (const [index, entity] of this.entities.entries()) this.addLinks(entity, index);
    const mainEntities = [...this.entities];
    for (let index = 0; index < 3; index += 1)
      if (this.random.chance(0.45)) this.addBridge(mainEntities);
    if (this.random.chance(0.4)) this.addDetail(mainEntities);
    for (let index = 0; index < 2; index += 1)
      if (this.random.chance(0.35)) this.addExtension(mainEntities);
    if (this.random.chance(0.25)) this.addPolymorphic(mainEntities);
    for (const entity of this.entities)
      addAttributes(entity, {
        entities: this.entities,
        namer: this.namer,
        random: this.random,
      });
    const referredTables = new Set(this.links.map(({ to }) => to));
    for (const entity of this.entities) {
      if (this.random.chance(referredTables.has(entity.table) ? 0.01 : 0.08))
        for (const column of entity.columns) column.values = [];
    }
    // Nobody can tell whether the key of an empty table refers to the table that it is named after.
    const emptyTables = new Set(
      this.entities.flatMap(({ table, columns }) =>
        columns[0]?.values.length === 0 ? [table] : [],
      ),
    );
    const isDecidable = ({ from, from_columns }: TrueLink): boolean =>
      !emptyTables.has(from) || this.keys[from]?.join() !== from_columns.join();
    const open = this.links.filter((link) => !isDecidable(link));
    return {
      truth: { primary_keys: this.keys, links: this.links.filter(isDecidable), open },
      tables: this.entities.map(({ table, columns }) => ({ name: table, columns })),
    };
  }

  private addEntity(): void {
    const names = entityNames[this.style.lang];
    const kind = this.random.pick([
      'people',
      'thing',
      'thing',
      'event',
      'event',
      'lookup',
      'lookup',
    ] as const);
    const words = this.random.pick(names[kind]).split(' ');
    if (this.entities.some((entity) => entity.words.join() === words.join())) return;
    const prefix = { none: '', tbl: 'tbl', app: 'app', star: kind === 'event' ? 'fact' : 'dim' }[
      this.style.tablePrefix
    ];
    const tableWords = this.random.chance(this.style.abbreviate)
      ? [this.namer.abbreviation(words)]
      : this.namer.plural(words);
    const table = this.namer.caseWords(prefix === '' ? tableWords : [prefix, ...tableWords]);
    const scale = this.random.chance(0.1) ? 4 : 1;
    const rows =
      scale *
      (kind === 'lookup'
        ? 3 + this.random.int(40)
        : kind === 'event'
          ? 60 + this.random.int(500)
          : 5 + this.random.int(160));
    const entity: Entity = {
      words,
      kind,
      table,
      prefix: this.style.columnPrefix ? `${this.namer.abbreviation(words).slice(0, 2)}_` : '',
      rows,
      key: [],
      keyName: '',
      keyType: 'INTEGER',
      columns: [],
    };
    entity.keyName = entity.prefix + this.namer.keyName(entity);
    entity.key = keyValues(entity, this.style.values, this.random);
    entity.keyType = typeof entity.key[0] === 'number' ? 'INTEGER' : 'TEXT';
    entity.columns.push({ name: entity.keyName, type: entity.keyType, values: [...entity.key] });
    if (this.hasTable(table)) return;
    this.keys[table] = [entity.keyName];
    this.entities.push(entity);
  }

  private addLinks(entity: Entity, index: number): void {
    const count = this.linkCount(entity);
    for (let step = 0; step < count; step += 1) {
      const parent = this.random.pick(this.entities);
      if (this.mayReferTo(parent, entity, index)) this.addRandomLink(entity, parent);
    }
    if (this.random.chance(0.15)) this.addLink(entity, entity, this.selfLinkName(entity));
  }

  private linkCount({ kind }: Entity): number {
    if (kind === 'event') return 1 + this.random.int(4);
    if (kind === 'lookup') return this.random.chance(0.25) ? 1 : 0;
    return this.random.int(3);
  }

  /** Only events refer to events, and only to earlier ones. */
  private mayReferTo(parent: Entity, entity: Entity, index: number): boolean {
    const isEvent = parent.kind === 'event';
    if (parent === entity || (isEvent && entity.kind !== 'event')) return false;
    if (isEvent && this.entities.indexOf(parent) > index) return false;
    return !this.links.some((link) => link.from === entity.table && link.to === parent.table);
  }

  private addRandomLink(entity: Entity, parent: Entity): void {
    if (this.random.chance(0.16)) {
      this.addRolePair(entity, parent);
    } else if (this.playsRoles(parent) && this.random.chance(0.25)) {
      this.addLink(entity, parent, this.namer.roleName(this.random.pick(personRoles)));
    } else {
      const role = this.random.chance(0.08) ? this.random.pick(roleWords) : undefined;
      this.addLink(entity, parent, this.namer.linkName(parent, role));
    }
  }

  private selfLinkName(entity: Entity): string {
    return this.random.chance(0.5)
      ? this.namer.roleName(this.random.pick(selfRoles))
      : this.namer.linkName(entity, this.random.pick(['parent', 'previous', 'root', 'original']));
  }

  /** Roles of a person mostly refer to staff, if there is a table of staff. */
  private playsRoles(parent: Entity): boolean {
    if (parent.kind !== 'people') return false;
    const isStaff = ({ words }: Entity): boolean => staffWords.has(words.join(' '));
    return isStaff(parent) || !this.entities.some(isStaff) || this.random.chance(0.15);
  }

  private addRolePair(entity: Entity, parent: Entity): void {
    const bare = this.random.chance(0.3);
    const first = this.random.int(10) * 2;
    for (const step of [0, 1]) {
      const role = bare
        ? (bareRoles[(first + step) % bareRoles.length] ?? '')
        : (roleWords[first + step] ?? '');
      this.addLink(
        entity,
        parent,
        bare ? this.namer.roleName(role) : this.namer.linkName(parent, role),
      );
    }
  }

  private addLink(child: Entity, parent: Entity, name: string): void {
    const column = child.prefix + name;
    if (hasColumn(child, column)) return;
    child.columns.push({
      name: column,
      type: parent.keyType,
      values: referenceValues(parent, child.rows, this.random),
    });
    this.links.push({
      from: child.table,
      from_columns: [column],
      to: parent.table,
      to_columns: [parent.keyName],
    });
  }

  /** A table that links two others, sometimes with a key of its own. */
  private addBridge(mainEntities: readonly Entity[]): void {
    const [a, b] = [this.random.pick(mainEntities), this.random.pick(mainEntities)];
    if (a === b) return;
    const words = this.random.chance(0.7)
      ? [...a.words, ...b.words]
      : [this.random.pick(['assignment', 'membership', 'map', 'link', 'xref', 'allocation'])];
    const table = this.namer.tableName(words);
    if (this.hasTable(table)) return;
    const pairs = new Set<number>();
    const count = Math.min(a.rows * b.rows, 20 + this.random.int(300));
    for (let tries = 0; tries < count * 2 && pairs.size < count; tries += 1)
      pairs.add(this.random.int(a.rows) * b.rows + this.random.int(b.rows));
    const bridge: Entity = {
      words,
      kind: 'thing',
      table,
      prefix: '',
      rows: pairs.size,
      key: [],
      keyName: '',
      keyType: 'INTEGER',
      columns: [],
    };
    const hasOwnKey = this.random.chance(0.2);
    if (hasOwnKey)
      bridge.columns.push({
        name: this.namer.caseWords(['id']),
        type: 'INTEGER',
        values: Array.from({ length: pairs.size }, (_, index) => index + 1),
      });
    const names: string[] = [];
    for (const [parent, keyIndex] of [
      [a, (code: number) => Math.floor(code / b.rows)],
      [b, (code: number) => code % b.rows],
    ] as const) {
      const name = this.namer.linkName(parent, undefined);
      if (hasColumn(bridge, name)) return;
      bridge.columns.push({
        name,
        type: parent.keyType,
        values: [...pairs].map((code) => parent.key[keyIndex(code)] ?? null),
      });
      names.push(name);
      this.links.push({
        from: table,
        from_columns: [name],
        to: parent.table,
        to_columns: [parent.keyName],
      });
    }
    this.keys[table] = hasOwnKey ? [this.namer.caseWords(['id'])] : names;
    this.entities.push(bridge);
  }

  /** A table whose key is its parent's key and a line number. */
  private addDetail(mainEntities: readonly Entity[]): void {
    const parent = this.random.pick(mainEntities);
    const words = [...parent.words, this.random.pick(['line', 'item', 'detail', 'step'])];
    const table = this.namer.tableName(words);
    if (this.hasTable(table)) return;
    const lines = parent.key.flatMap((key) =>
      Array.from({ length: 1 + this.random.int(4) }, (_, index) => [key, index + 1] as const),
    );
    const name = this.namer.linkName(parent, undefined);
    const line = this.namer.caseWords(
      this.random.pick([['line', 'no'], ['line', 'number'], ['seq'], ['position'], ['item', 'no']]),
    );
    const detail: Entity = {
      words,
      kind: 'event',
      table,
      prefix: '',
      rows: lines.length,
      key: [],
      keyName: '',
      keyType: 'INTEGER',
      columns: [
        { name, type: parent.keyType, values: lines.map(([key]) => key) },
        { name: line, type: 'INTEGER', values: lines.map(([, index]) => index) },
      ],
    };
    this.links.push({
      from: table,
      from_columns: [name],
      to: parent.table,
      to_columns: [parent.keyName],
    });
    this.keys[table] = [name, line];
    const second = this.random.pick(mainEntities);
    this.entities.push(detail);
    if (second !== parent) this.addLink(detail, second, this.namer.linkName(second, undefined));
  }

  /** A table that shares its primary key with its parent. */
  private addExtension(mainEntities: readonly Entity[]): void {
    const parent = this.random.pick(mainEntities);
    const words = [
      ...parent.words,
      this.random.pick(['profile', 'detail', 'setting', 'extra', 'info']),
    ];
    const table = this.namer.tableName(words);
    if (this.hasTable(table)) return;
    const share = this.random.pick([0.8, 0.8, 0.3, 0.1]);
    const isStart = this.random.chance(0.2);
    const keys = parent.key.filter((_, index) =>
      isStart ? index < parent.rows * share : this.random.chance(share),
    );
    if (keys.length < 2) return;
    const name = this.namer.linkName(parent, undefined);
    this.entities.push({
      words,
      kind: 'thing',
      table,
      prefix: '',
      rows: keys.length,
      key: keys,
      keyName: name,
      keyType: parent.keyType,
      columns: [{ name, type: parent.keyType, values: keys }],
    });
    this.links.push({
      from: table,
      from_columns: [name],
      to: parent.table,
      to_columns: [parent.keyName],
    });
    this.keys[table] = [name];
  }

  /**
   * A table whose rows refer to one of two tables, by a type column. Such a link is no link of the
   * truth.
   */
  private addPolymorphic(mainEntities: readonly Entity[]): void {
    const [a, b] = [this.random.pick(mainEntities), this.random.pick(mainEntities)];
    if (a === b || a.keyType !== b.keyType) return;
    const table = this.namer.tableName([
      this.random.pick(['note', 'attachment', 'activity', 'tagging']),
    ]);
    if (this.hasTable(table)) return;
    const stem = this.random.pick(['owner', 'subject', 'target', 'entity', 'commentable', 'ref']);
    const rows = 40 + this.random.int(200);
    const targets = Array.from({ length: rows }, () => (this.random.chance(0.5) ? a : b));
    const key = this.namer.caseWords(['id']);
    this.entities.push({
      words: [table],
      kind: 'event',
      table,
      prefix: '',
      rows,
      key: [],
      keyName: key,
      keyType: 'INTEGER',
      columns: [
        { name: key, type: 'INTEGER', values: targets.map((_, index) => index + 1) },
        {
          name: this.namer.caseWords([stem, 'type']),
          type: 'TEXT',
          values: targets.map((entity) => entity.words.join('_')),
        },
        {
          name: this.namer.caseWords([stem, 'id']),
          type: a.keyType,
          values: targets.map((entity) => this.random.pick(entity.key)),
        },
      ],
    });
    this.keys[table] = [key];
  }

  private hasTable(table: string): boolean {
    return this.entities.some((entity) => entity.table.toLowerCase() === table.toLowerCase());
  }
}
