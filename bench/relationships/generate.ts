import { DatabaseSync } from 'node:sqlite';

/**
 * Schemas with known keys and links, in many styles, for training and testing relationship discovery. Nothing here comes from
 * the databases that the benchmark scores. Equal seeds give equal databases.
 */
export interface Truth {
  readonly primary_keys: Readonly<Record<string, readonly string[]>>;
  readonly links: readonly {
    readonly from: string;
    readonly from_columns: readonly string[];
    readonly to: string;
    readonly to_columns: readonly string[];
  }[];
  /** Links that may be found or not: they count neither way. */
  readonly open?: Truth['links'];
}

type Cell = string | number | null;
interface Column {
  name: string;
  type: string;
  values: Cell[];
}
interface Entity {
  words: string[];
  kind: 'people' | 'thing' | 'event' | 'lookup';
  table: string;
  prefix: string;
  rows: number;
  key: Cell[];
  keyName: string;
  keyType: string;
  columns: Column[];
  composite?: string[];
}

export function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const pools = {
  en: {
    people:
      'customer,employee,user,supplier,student,teacher,patient,doctor,driver,author,member,agent,player,vendor,contact,person,guest,nurse,client,worker'.split(
        ',',
      ),
    thing:
      'product,account,store,warehouse,vehicle,book,movie,song,course,department,branch,room,property,device,project,campaign,team,ship,machine,ticket type,bank account,credit card,price list,work center,school,hospital,company,station,farm,article,recipe,building,asset,contract,policy,sensor,flight,journal'.split(
        ',',
      ),
    event:
      'order,invoice,payment,shipment,visit,booking,review,message,comment,enrollment,claim,delivery,inspection,session,transaction,match,race,appointment,loan,return,complaint,order line,purchase,ticket,audit log,status change,inventory move,stay,trip,grade,reading,result'.split(
        ',',
      ),
    lookup:
      'country,city,region,category,status,currency,language,genre,brand,color,unit,season,segment,tax rate,payment method,order status,job title,skill,tag,state,sector,county,severity,channel,tier'.split(
        ',',
      ),
  },
  de: {
    people: 'kunde,mitarbeiter,lieferant,patient,fahrer,benutzer,schueler,arzt'.split(','),
    thing:
      'artikel,lager,filiale,abteilung,fahrzeug,projekt,konto,buch,raum,maschine,vertrag'.split(
        ',',
      ),
    event:
      'auftrag,rechnung,lieferung,buchung,zahlung,bestellung,termin,auftrag position,reklamation'.split(
        ',',
      ),
    lookup: 'land,ort,region,warengruppe,waehrung,sprache,farbe,einheit,status,marke'.split(','),
  },
  es: {
    people: 'cliente,empleado,proveedor,usuario,alumno,medico,conductor'.split(','),
    thing: 'producto,almacen,tienda,departamento,vehiculo,proyecto,cuenta,libro,curso'.split(','),
    event: 'pedido,factura,pago,envio,reserva,visita,venta,compra'.split(','),
    lookup: 'pais,ciudad,provincia,categoria,moneda,idioma,color,marca,estado'.split(','),
  },
};
const staff = new Set(
  'employee,user,member,agent,worker,person,mitarbeiter,benutzer,empleado,usuario'.split(','),
);
const roleWords = [
  'primary',
  'secondary',
  'billing',
  'shipping',
  'origin',
  'destination',
  'home',
  'away',
  'from',
  'to',
  'source',
  'target',
  'first',
  'second',
  'old',
  'new',
  'main',
  'default',
  'alternate',
  'buyer',
  'seller',
  'sender',
  'recipient',
  'winner',
  'loser',
  'current',
];
const bareRoles = [
  'origin',
  'destination',
  'source',
  'target',
  'home',
  'away',
  'departure',
  'arrival',
  'from',
  'to',
  'winner',
  'loser',
];
const personRoles = [
  'created_by',
  'owner',
  'author',
  'assignee',
  'approved_by',
  'sales_rep',
  'buyer',
  'seller',
  'reviewer',
  'sender',
  'recipient',
  'updated_by',
  'contact',
  'handler',
  'instructor',
  'uploader',
  'payer',
  'closed_by',
  'voter',
  'inviter',
];
const selfRoles = [
  'parent',
  'manager',
  'supervisor',
  'reports_to',
  'previous',
  'replaced_by',
  'original',
  'boss',
  'superior',
  'mentor',
  'referred_by',
  'reply_to',
];

interface Style {
  lang: keyof typeof pools;
  casing: 'snake' | 'pascal' | 'camel' | 'upper' | 'glued';
  plural: boolean;
  tablePrefix: 'none' | 'tbl' | 'star' | 'app';
  key: 'id' | 'entity_id' | 'entity_suffix' | 'id_entity' | 'abbr_id' | 'pk_entity' | 'name';
  suffix: string;
  link:
    | 'entity_suffix'
    | 'parent_key'
    | 'fk_entity'
    | 'id_entity'
    | 'entity'
    | 'abbr_suffix'
    | 'mixed';
  columnPrefix: boolean;
  values: 'dense' | 'offset' | 'sparse' | 'uuid' | 'code' | 'prefixed' | 'mixed';
  abbreviate: number;
}

function styleOf(random: () => number): Style {
  const pick = <T>(...list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return {
    lang: pick('en', 'en', 'en', 'en', 'en', 'de', 'es'),
    casing: pick('snake', 'snake', 'snake', 'snake', 'pascal', 'pascal', 'camel', 'upper', 'glued'),
    plural: pick(true, false),
    tablePrefix: pick('none', 'none', 'none', 'none', 'tbl', 'star', 'app'),
    key: pick(
      'id',
      'id',
      'entity_id',
      'entity_id',
      'entity_suffix',
      'id_entity',
      'abbr_id',
      'pk_entity',
      'name',
    ),
    suffix: pick('id', 'id', 'id', 'no', 'key', 'code', 'nr', 'num', 'sk', 'number'),
    link: pick(
      'entity_suffix',
      'entity_suffix',
      'parent_key',
      'parent_key',
      'fk_entity',
      'id_entity',
      'entity',
      'abbr_suffix',
      'mixed',
    ),
    columnPrefix: random() < 0.12,
    values: pick(
      'dense',
      'dense',
      'dense',
      'dense',
      'offset',
      'sparse',
      'uuid',
      'code',
      'prefixed',
      'mixed',
      'mixed',
    ),
    abbreviate: pick(0, 0, 0, 0.3),
  };
}

export interface Generated {
  readonly truth: Truth;
  readonly tables: readonly { readonly name: string; readonly columns: readonly Column[] }[];
}

export function generate(seed: number): Generated {
  return new Builder(seed).build();
}

class Builder {
  private readonly random: () => number;
  private readonly style: Style;
  private readonly entities: Entity[] = [];
  private readonly links: {
    from: string;
    from_columns: string[];
    to: string;
    to_columns: string[];
  }[] = [];
  private readonly keys: Record<string, string[]> = {};

  constructor(seed: number) {
    this.random = randomOf(seed);
    this.style = styleOf(this.random);
  }

  build(): Generated {
    const count = 5 + this.int(12);
    for (let index = 0; index < count; index += 1) this.addEntity();
    for (const [index, entity] of this.entities.entries()) this.addLinks(entity, index);
    const plain = [...this.entities];
    for (let index = 0; index < 3; index += 1) if (this.chance(0.45)) this.addBridge(plain);
    if (this.chance(0.4)) this.addDetail(plain);
    for (let index = 0; index < 2; index += 1) if (this.chance(0.35)) this.addExtension(plain);
    if (this.chance(0.25)) this.addPolymorphic(plain);
    for (const entity of this.entities) this.addAttributes(entity);
    const referred = new Set(this.links.map(({ to }) => to));
    for (const entity of this.entities) {
      if (this.chance(referred.has(entity.table) ? 0.01 : 0.08))
        for (const column of entity.columns) column.values = [];
    }
    // An empty extension: whether its key refers to what it is named after is nothing that anybody could tell.
    const empty = new Set(
      this.entities.flatMap(({ table, columns }) =>
        columns[0]?.values.length === 0 ? [table] : [],
      ),
    );
    const isTelling = ({ from, from_columns }: Truth['links'][number]): boolean =>
      !empty.has(from) || this.keys[from]?.join() !== from_columns.join();
    const open = this.links.filter((link) => !isTelling(link));
    return {
      truth: { primary_keys: this.keys, links: this.links.filter(isTelling), open },
      tables: this.entities.map(({ table, columns }) => ({ name: table, columns })),
    };
  }

  private int(below: number): number {
    return Math.floor(this.random() * below);
  }
  private chance(share: number): boolean {
    return this.random() < share;
  }
  private pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }

  private cased(words: readonly string[]): string {
    const parts = words.flatMap((word) => word.split(/[ _]/)).filter((word) => word !== '');
    const capital = (word: string): string =>
      word === 'id' && this.style.plural ? 'ID' : word.slice(0, 1).toUpperCase() + word.slice(1);
    switch (this.style.casing) {
      case 'snake':
        return parts.join('_');
      case 'upper':
        return parts.join('_').toUpperCase();
      case 'glued':
        return parts.join('');
      case 'pascal':
        return parts.map(capital).join('');
      case 'camel':
      default:
        return parts.map((word, index) => (index === 0 ? word : capital(word))).join('');
    }
  }

  private plural(words: readonly string[]): string[] {
    if (!this.style.plural) return [...words];
    const last = words.at(-1) ?? '';
    const ending =
      this.style.lang === 'de'
        ? `${last}en`
        : last.endsWith('y')
          ? `${last.slice(0, -1)}ies`
          : /(s|x|ch|sh)$/.test(last)
            ? `${last}es`
            : `${last}s`;
    return [...words.slice(0, -1), ending];
  }

  private tableName(words: readonly string[]): string {
    const prefix = {
      none: [],
      tbl: ['tbl'],
      app: ['app'],
      star: this.chance(0.5) ? ['bridge'] : [],
    }[this.style.tablePrefix];
    return this.cased([...prefix, ...this.plural(words)]);
  }

  private abbreviation(words: readonly string[]): string {
    const word = words.join('');
    if (words.length > 1 && this.chance(0.4)) return words.map((part) => part[0]).join('');
    if (this.chance(0.6)) return word.slice(0, 3 + this.int(2));
    return (
      (word[0] ?? '') +
      word
        .slice(1)
        .replaceAll(/[aeiou]/g, '')
        .slice(0, 3)
    );
  }

  private addEntity(): void {
    const pool = pools[this.style.lang];
    const kind = this.pick([
      'people',
      'thing',
      'thing',
      'event',
      'event',
      'lookup',
      'lookup',
    ] as const);
    const words = this.pick(pool[kind]).split(' ');
    if (this.entities.some((entity) => entity.words.join() === words.join())) return;
    const prefix = { none: '', tbl: 'tbl', app: 'app', star: kind === 'event' ? 'fact' : 'dim' }[
      this.style.tablePrefix
    ];
    const named = this.chance(this.style.abbreviate)
      ? [this.abbreviation(words)]
      : this.plural(words);
    const table = this.cased(prefix === '' ? named : [prefix, ...named]);
    const scale = this.chance(0.1) ? 4 : 1;
    const rows =
      scale *
      (kind === 'lookup'
        ? 3 + this.int(40)
        : kind === 'event'
          ? 60 + this.int(500)
          : 5 + this.int(160));
    const entity: Entity = {
      words,
      kind,
      table,
      prefix: this.style.columnPrefix ? `${this.abbreviation(words).slice(0, 2)}_` : '',
      rows,
      key: [],
      keyName: '',
      keyType: 'INTEGER',
      columns: [],
    };
    entity.keyName = entity.prefix + this.keyName(entity);
    entity.key = this.keyValues(entity);
    entity.keyType = typeof entity.key[0] === 'number' ? 'INTEGER' : 'TEXT';
    entity.columns.push({ name: entity.keyName, type: entity.keyType, values: [...entity.key] });
    if (this.entities.some((other) => other.table.toLowerCase() === table.toLowerCase())) return;
    this.keys[table] = [entity.keyName];
    this.entities.push(entity);
  }

  private keyName({ words, kind }: Entity): string {
    const { key, suffix } = this.style;
    switch (key) {
      case 'id':
        return this.cased(['id']);
      case 'entity_id':
        return this.cased([...words, 'id']);
      case 'entity_suffix':
        return this.cased([...words, suffix]);
      case 'id_entity':
        return this.cased(['id', ...words]);
      case 'abbr_id':
        return this.cased([this.abbreviation(words), suffix]);
      case 'pk_entity':
        return this.cased([this.pick(['pk', 'sk']), ...words]);
      case 'name':
      default:
        return kind === 'lookup'
          ? this.cased([this.pick(['code', 'name', words.at(-1) ?? ''])])
          : this.cased([...words, suffix]);
    }
  }

  private keyValues({ rows, kind, words }: Entity): Cell[] {
    const mixed =
      this.style.values === 'mixed'
        ? this.pick(['dense', 'offset', 'sparse', 'uuid', 'code'] as const)
        : this.style.values;
    const shape = kind === 'lookup' && this.chance(0.15) ? 'short' : mixed;
    const start = 100 * (1 + this.int(90));
    const values = new Set<Cell>();
    const letters = () => String.fromCharCode(65 + this.int(26));
    for (let index = 0; values.size < rows; index += 1) {
      if (shape === 'dense') values.add(index + 1);
      else if (shape === 'offset') values.add(start + index);
      else if (shape === 'sparse') values.add(1 + this.int(rows * 60));
      else if (shape === 'uuid')
        values.add(`${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`);
      else if (shape === 'prefixed') values.add(`${words.join('').slice(0, 3)}_${this.hex(10)}`);
      else if (shape === 'short')
        values.add(letters() + letters() + (values.size > 200 ? letters() : ''));
      else values.add(`${letters()}${letters()}${1000 + this.int(90_000)}`);
    }
    const list = [...values];
    if (shape === 'dense' && this.chance(0.2)) return list.map((value) => Number(value) - 1);
    return list;
  }

  private hex(length: number): string {
    return Array.from({ length }, () => this.int(16).toString(16)).join('');
  }

  private linkName(parent: Entity, role: string | undefined): string {
    const { words } = parent;
    const suffix =
      this.style.key === 'id' || this.style.key === 'id_entity' || this.style.key === 'pk_entity'
        ? 'id'
        : this.style.suffix;
    const style =
      this.style.link === 'mixed'
        ? this.pick(['entity_suffix', 'parent_key', 'fk_entity', 'entity', 'abbr_suffix'] as const)
        : this.style.link;
    const front = role === undefined ? [] : [role];
    const bareKey = parent.keyName.slice(parent.prefix.length);
    const word = words.join('');
    if (role === undefined && word.length > 5 && this.chance(0.03))
      return this.cased([word.slice(0, 4), this.pick(['via', 'used', 'set', 'by'])]);
    const generic = /^(id|code|name)$/i.test(bareKey) || words.at(-1) === bareKey.toLowerCase();
    switch (style) {
      case 'parent_key':
        return generic
          ? this.cased([...front, ...words, suffix])
          : role === undefined
            ? bareKey
            : this.style.casing === 'pascal' || this.style.casing === 'glued'
              ? this.cased([role]) + bareKey
              : `${this.cased([role])}_${bareKey}`;
      case 'fk_entity':
        return this.cased(['fk', ...front, ...words]);
      case 'id_entity':
        return this.cased(['id', ...front, ...words]);
      case 'entity':
        return this.cased([...front, ...words]);
      case 'abbr_suffix':
        return this.cased([...front, this.abbreviation(words), suffix]);
      case 'entity_suffix':
      default:
        return this.cased([...front, ...words, suffix]);
    }
  }

  private link(child: Entity, parent: Entity, name: string): void {
    const column = child.prefix + name;
    if (child.columns.some((other) => other.name.toLowerCase() === column.toLowerCase())) return;
    child.columns.push({
      name: column,
      type: parent.keyType,
      values: this.references(parent, child.rows),
    });
    this.links.push({
      from: child.table,
      from_columns: [column],
      to: parent.table,
      to_columns: [parent.keyName],
    });
  }

  private references(parent: Entity, rows: number): Cell[] {
    const nulls = this.chance(0.06) ? 1 : this.chance(0.3) ? this.random() * 0.5 : 0;
    const orphans = this.chance(0.12) ? this.random() * 0.06 : 0;
    const share = this.chance(0.35) ? 0.04 + this.random() * 0.6 : 1;
    const skew = this.pick([1, 1, 2]);
    const none =
      this.chance(0.12) &&
      parent.keyType === 'INTEGER' &&
      parent.key.every((key) => Number(key) > 0)
        ? 0
        : null;
    const offset = this.int(parent.rows);
    return Array.from({ length: rows }, () => {
      if (this.chance(nulls)) return none;
      if (this.chance(orphans))
        return parent.keyType === 'INTEGER'
          ? Number(parent.key.at(-1)) + 1 + this.int(50)
          : `X${this.hex(6)}`;
      const at = Math.floor(this.random() ** skew * parent.rows * share);
      return parent.key[(at + (share < 1 ? offset : 0)) % parent.rows] ?? null;
    });
  }

  private addLinks(entity: Entity, index: number): void {
    const wanted =
      entity.kind === 'event'
        ? 1 + this.int(4)
        : entity.kind === 'lookup'
          ? this.chance(0.25)
            ? 1
            : 0
          : this.int(3);
    for (let step = 0; step < wanted; step += 1) {
      const parent = this.pick(this.entities);
      if (parent === entity || (parent.kind === 'event' && entity.kind !== 'event')) continue;
      if (parent.kind === 'event' && this.entities.indexOf(parent) > index) continue;
      if (this.links.some((link) => link.from === entity.table && link.to === parent.table))
        continue;
      if (this.chance(0.16)) this.addRolePair(entity, parent);
      else if (this.playsRoles(parent) && this.chance(0.25))
        this.link(entity, parent, this.roleName(this.pick(personRoles)));
      else
        this.link(
          entity,
          parent,
          this.linkName(parent, this.chance(0.08) ? this.pick(roleWords) : undefined),
        );
    }
    if (this.chance(0.15))
      this.link(
        entity,
        entity,
        this.chance(0.5)
          ? this.roleName(this.pick(selfRoles))
          : this.linkName(entity, this.pick(['parent', 'previous', 'root', 'original'])),
      );
  }

  /** Those who work with the data where there are some, and seldom others. */
  private playsRoles(parent: Entity): boolean {
    if (parent.kind !== 'people') return false;
    const isStaff = ({ words }: Entity): boolean => staff.has(words.join(' '));
    return isStaff(parent) || !this.entities.some(isStaff) || this.chance(0.15);
  }

  private addRolePair(entity: Entity, parent: Entity): void {
    const bare = this.chance(0.3);
    const first = this.int(10) * 2;
    for (const step of [0, 1]) {
      const role = bare
        ? (bareRoles[(first + step) % bareRoles.length] ?? '')
        : (roleWords[first + step] ?? '');
      this.link(entity, parent, bare ? this.roleName(role) : this.linkName(parent, role));
    }
  }

  private roleName(role: string): string {
    return this.cased(this.chance(0.55) ? [role, 'id'] : [role]);
  }

  private addBridge(plain: readonly Entity[]): void {
    const [a, b] = [this.pick(plain), this.pick(plain)];
    if (a === b) return;
    const words = this.chance(0.7)
      ? [...a.words, ...b.words]
      : [this.pick(['assignment', 'membership', 'map', 'link', 'xref', 'allocation'])];
    const table = this.tableName(words);
    if (this.entities.some((other) => other.table.toLowerCase() === table.toLowerCase())) return;
    const pairs = new Set<number>();
    const wanted = Math.min(a.rows * b.rows, 20 + this.int(300));
    for (let tries = 0; tries < wanted * 2 && pairs.size < wanted; tries += 1)
      pairs.add(this.int(a.rows) * b.rows + this.int(b.rows));
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
    const own = this.chance(0.2);
    if (own)
      bridge.columns.push({
        name: this.cased(['id']),
        type: 'INTEGER',
        values: Array.from({ length: pairs.size }, (_, index) => index + 1),
      });
    const names: string[] = [];
    for (const [parent, at] of [
      [a, (code: number) => Math.floor(code / b.rows)],
      [b, (code: number) => code % b.rows],
    ] as const) {
      const name = this.linkName(parent, undefined);
      if (bridge.columns.some((other) => other.name.toLowerCase() === name.toLowerCase())) return;
      bridge.columns.push({
        name,
        type: parent.keyType,
        values: [...pairs].map((code) => parent.key[at(code)] ?? null),
      });
      names.push(name);
      this.links.push({
        from: table,
        from_columns: [name],
        to: parent.table,
        to_columns: [parent.keyName],
      });
    }
    this.keys[table] = own ? [this.cased(['id'])] : names;
    this.entities.push(bridge);
  }

  private addDetail(plain: readonly Entity[]): void {
    const parent = this.pick(plain);
    const words = [...parent.words, this.pick(['line', 'item', 'detail', 'step'])];
    const table = this.tableName(words);
    if (this.entities.some((other) => other.table.toLowerCase() === table.toLowerCase())) return;
    const lines = parent.key.flatMap((key) =>
      Array.from({ length: 1 + this.int(4) }, (_, index) => [key, index + 1] as const),
    );
    const name = this.linkName(parent, undefined);
    const line = this.cased(
      this.pick([['line', 'no'], ['line', 'number'], ['seq'], ['position'], ['item', 'no']]),
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
    const other = this.pick(plain);
    this.entities.push(detail);
    if (other !== parent) this.link(detail, other, this.linkName(other, undefined));
  }

  private addExtension(plain: readonly Entity[]): void {
    const parent = this.pick(plain);
    const words = [...parent.words, this.pick(['profile', 'detail', 'setting', 'extra', 'info'])];
    const table = this.tableName(words);
    if (this.entities.some((other) => other.table.toLowerCase() === table.toLowerCase())) return;
    const share = this.pick([0.8, 0.8, 0.3, 0.1]);
    const isStart = this.chance(0.2);
    const some = parent.key.filter((_, index) =>
      isStart ? index < parent.rows * share : this.chance(share),
    );
    if (some.length < 2) return;
    const name = this.linkName(parent, undefined);
    this.entities.push({
      words,
      kind: 'thing',
      table,
      prefix: '',
      rows: some.length,
      key: some,
      keyName: name,
      keyType: parent.keyType,
      columns: [{ name, type: parent.keyType, values: some }],
    });
    this.links.push({
      from: table,
      from_columns: [name],
      to: parent.table,
      to_columns: [parent.keyName],
    });
    this.keys[table] = [name];
  }

  private addPolymorphic(plain: readonly Entity[]): void {
    const [a, b] = [this.pick(plain), this.pick(plain)];
    if (a === b || a.keyType !== b.keyType) return;
    const table = this.tableName([this.pick(['note', 'attachment', 'activity', 'tagging'])]);
    if (this.entities.some((other) => other.table.toLowerCase() === table.toLowerCase())) return;
    const stem = this.pick(['owner', 'subject', 'target', 'entity', 'commentable', 'ref']);
    const rows = 40 + this.int(200);
    const which = Array.from({ length: rows }, () => (this.chance(0.5) ? a : b));
    const key = this.cased(['id']);
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
        { name: key, type: 'INTEGER', values: which.map((_, index) => index + 1) },
        {
          name: this.cased([stem, 'type']),
          type: 'TEXT',
          values: which.map((entity) => entity.words.join('_')),
        },
        {
          name: this.cased([stem, 'id']),
          type: a.keyType,
          values: which.map((entity) => this.pick(entity.key)),
        },
      ],
    });
    this.keys[table] = [key];
  }

  private addAttributes(entity: Entity): void {
    const wanted = 1 + this.int(6);
    for (let step = 0; step < wanted; step += 1) this.addAttribute(entity);
  }

  /** `number_of_orders`, `num_players`: named after a table, and no reference to it. */
  private countNames(): string[] {
    const words = this.pick(this.entities).words;
    const last = words.at(-1) ?? '';
    return [
      [
        ...this.pick([['number', 'of'], ['num'], ['no', 'of']]),
        ...words.slice(0, -1),
        /s$/i.test(last) ? last : `${last}s`,
      ].join('_'),
    ];
  }

  private addAttribute(entity: Entity): void {
    const year = () => 1990 + this.int(35);
    const text = () =>
      `${this.pick(['Alpha', 'Bright', 'Cedar', 'Delta', 'Ember', 'Falcon', 'Grove', 'Harbor'])} ${this.pick(['One', 'Two', 'North', 'South', 'Max', 'Mini'])} ${this.int(500)}`;
    const limit = this.pick([3, 5, 10, 20, 100]);
    const whole = () => 1 + this.int(limit);
    const makers: readonly (readonly [readonly string[], string, () => Cell])[] = [
      [
        [
          'quantity',
          'qty',
          'stock',
          'position',
          'rating',
          'level',
          'points',
          'capacity',
          'age',
          'score',
          'duration',
          'priority',
          'rank',
          'floor',
          'grid',
          'x',
          'value',
          'visits',
          'wins',
          'menge',
          'cantidad',
          'episodes',
          'bedrooms',
          'attempt',
          'flags',
          'size',
          'round',
        ],
        'INTEGER',
        whole,
      ],
      [
        ['is_active', 'deleted', 'active', 'flag', 'is_default', 'paid', 'valid', 'vip'],
        'INTEGER',
        () => this.int(2),
      ],
      [
        [
          'external_id',
          'legacy_id',
          'batch_id',
          'session_no',
          'device_id',
          'terminal_no',
          'house_no',
          'room_number',
          'page_no',
          'tax_number',
          'import_id',
          'revision_no',
          'upc_code',
          'version_number',
          'model_no',
          'ext_ref',
        ],
        'INTEGER',
        this.chance(0.6) ? () => 1 + this.int(entity.rows * 2) : () => 100_000 + this.int(900_000),
      ],
      [
        [
          'status_code',
          'gender',
          'type',
          'kind',
          'state_code',
          'currency_code',
          'size_code',
          'class',
        ],
        'TEXT',
        () => this.pick(['A', 'B', 'C', 'X']),
      ],
      [
        ['type_id', 'kind_id', 'class_code', 'status_id', 'group_no', 'mode'],
        'INTEGER',
        () => 1 + this.int(5),
      ],
      [['year', 'birth_year', 'model_year', 'jahr', 'founded'], 'INTEGER', year],
      [
        ['price', 'amount', 'total', 'cost', 'salary', 'preis', 'importe', 'balance', 'weight'],
        'NUMERIC(10,2)',
        () => Math.round(this.random() * 100_000) / 100,
      ],
      [['name', 'title', 'label', 'description', 'bezeichnung', 'nombre'], 'TEXT', text],
      [
        ['created_at', 'order_date', 'updated_on', 'start_date', 'datum', 'fecha'],
        'DATE',
        () =>
          `${year()}-${String(1 + this.int(12)).padStart(2, '0')}-${String(1 + this.int(28)).padStart(2, '0')}`,
      ],
      [['email', 'contact_email'], 'TEXT', () => `p${this.int(5000)}@example.com`],
      [['sort_order', 'display_order', 'seq', 'line'], 'INTEGER', whole],
      [this.countNames(), 'INTEGER', whole],
    ];
    const [names, type, make] = this.pick(makers);
    const name = entity.prefix + this.cased([this.pick(names)]);
    if (entity.columns.some((other) => other.name.toLowerCase() === name.toLowerCase())) return;
    const sequence = /sort|display|position|rank/i.test(name) && this.chance(0.4);
    const column = {
      name,
      type,
      values: Array.from({ length: entity.rows }, (_, index) =>
        sequence && type === 'INTEGER' ? index + 1 : make(),
      ),
    };
    if (this.chance(0.3) && entity.columns.length > 1)
      entity.columns.splice(1 + this.int(entity.columns.length), 0, column);
    else entity.columns.push(column);
  }
}

/** A SQLite file of the schema, which declares no links; the primary keys where `declares` says so. */
export function writeDatabase(
  path: string,
  { tables, truth }: Generated,
  declares: 'nothing' | 'keys' = 'nothing',
): void {
  const db = new DatabaseSync(path);
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  for (const { name, columns } of tables) {
    const key = declares === 'keys' ? truth.primary_keys[name] : undefined;
    const declared = key === undefined ? [] : [`PRIMARY KEY (${key.map(quote).join(', ')})`];
    db.exec(
      `CREATE TABLE ${quote(name)} (${[...columns.map((column) => `${quote(column.name)} ${column.type}`), ...declared].join(', ')})`,
    );
    const insert = db.prepare(
      `INSERT INTO ${quote(name)} VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (let row = 0; row < (columns[0]?.values.length ?? 0); row += 1)
      insert.run(...columns.map(({ values }) => values[row] ?? null));
  }
  db.exec('COMMIT');
  db.close();
}
