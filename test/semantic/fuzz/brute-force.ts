import type { Aggregate, Question, Test } from './question.ts';
import type { Cell, Dataset, Row, World } from './world.ts';

/** A hop of a path: the table that it leads to, and how to get there from a row. `isMany` where it may lead to several rows. */
interface Hop {
  readonly name: string;
  readonly kind: 'up' | 'down' | 'bridge';
  readonly from: string;
  readonly to: string;
  follow(row: Row): readonly Row[];
}
type Path = readonly Hop[];

/** Rows by the names of the hops that led to them; undefined where a hop to one found none. */
type Binding = ReadonlyMap<string, Row | undefined>;

/** What the rules of the semantic layer say, by walking over arrays; undefined where they say that it is an error. */
export function evaluate(world: World, question: Question): readonly (readonly Cell[])[] | undefined {
  const aggregates = question.metrics.flatMap((metric) => ('left' in metric ? [metric.left, metric.right] : [metric]));
  const blocks = new Map<string, ReadonlyMap<string, readonly Row[]>>();
  for (const one of aggregates) {
    const block = blockOf(world, question, one);
    if (block === undefined) return undefined;
    blocks.set(blockName(one), block);
  }
  const totals = new Map<Aggregate, readonly number[]>();
  for (const one of aggregates) {
    const kept = keptBy(question, one);
    if (kept === undefined) return undefined;
    totals.set(one, kept);
  }
  const times = new Set(aggregates.flatMap((one) => (one.function === 'running' ? [timeOf(question, one)] : [])));
  if (times.size > 1 || times.has(-1)) return undefined;
  for (const index of times) {
    const periods = new Set(
      [...blocks.values()].flatMap((block) => [...block.keys()].map((group) => (JSON.parse(group) as Cell[])[index] ?? null)),
    );
    for (const [name, block] of blocks) if (name.endsWith(' running')) blocks.set(name, accumulated(block, { index, periods }));
  }
  const isTime = ({ dataset }: Question['dimensions'][number], owner: string): boolean => dataset === owner;
  for (const { owner, function: name } of aggregates) {
    const places = question.dimensions.map(({ dataset }) => pathTo(world, owner, dataset));
    if (['closing', 'followed', 'follow_rate'].includes(name) && places.some((path) => path?.some(({ kind }) => kind !== 'up')))
      return undefined;
  }
  const isWhole = (one: Aggregate): boolean => totals.get(one)?.length === question.dimensions.length;
  const groups = [...new Set([...blocks.values()].flatMap((block) => [...block.keys()]))];
  return groups
    .map((group) => {
      const valueOf = (one: Aggregate): Cell => {
        const kept = totals.get(one) ?? [];
        if (!isWhole(one)) {
          const dimensions = kept.flatMap((index) => question.dimensions[index] ?? []);
          const cells = JSON.parse(group) as Cell[];
          const own = blockOf(world, { ...question, dimensions }, one)?.get(JSON.stringify(kept.map((index) => cells[index] ?? null)));
          return own === undefined && one.function === 'overall' ? null : aggregate(one, own ?? []);
        }
        const block = blocks.get(blockName(one));
        const rows = block?.get(group) ?? [];
        if (one.function === 'followed') return followers(world, one.owner, rows);
        if (one.function === 'follow_rate') return rows.length === 0 ? null : followers(world, one.owner, rows) / rows.length;
        if (one.function !== 'closing') return aggregate(one, rows);
        const isMonthly = question.dimensions.some((dimension) => dimension.field === 't.month' && isTime(dimension, one.owner));
        return aggregate({ ...one, function: 'sum' }, lastOf(rows, { all: [...(block?.values() ?? [])].flat(), isMonthly }));
      };
      const values = question.metrics.map((metric) => {
        if (!('left' in metric)) return valueOf(metric);
        const isAcross = blockName(metric.left) !== blockName(metric.right);
        const [left, right] = [metric.left, metric.right].map((one) => {
          const value = valueOf(one);
          return value === null && isAcross && ['sum', 'closing', 'earlier', 'running', 'overall'].includes(one.function) ? 0 : value;
        });
        return calculated(metric.op, left ?? null, right ?? null);
      });
      return { group, values };
    })
    .filter(({ values: [first = null] }) => question.having === undefined || (first !== null && Number(first) > question.having))
    .map(({ group, values }) => [...(JSON.parse(group) as Cell[]), ...values]);
}

/** The dimensions that a metric is computed by: all of them but for totals. Undefined where the query lacks one. */
function keptBy({ dimensions }: Question, { owner, function: name }: Aggregate): readonly number[] | undefined {
  if (name === 'overall') return [];
  if (name !== 'over_g') return [...dimensions.keys()];
  const index = dimensions.findIndex(({ dataset, field }) => dataset === owner && field === 'g');
  return index === -1 ? undefined : [index];
}

/** Which dimension is the owner's own time. */
function timeOf({ dimensions }: Question, { owner }: Aggregate): number {
  return dimensions.findIndex(({ dataset, field }) => dataset === owner && field === 't.month');
}

/** In each period, the rows of it and of those before. */
function accumulated(
  block: ReadonlyMap<string, readonly Row[]>,
  time: { index: number; periods: ReadonlySet<Cell> },
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, readonly Row[]>();
  for (const period of time.periods) {
    for (const [group, rows] of block) {
      const cells = JSON.parse(group) as Cell[];
      const own = cells[time.index] ?? null;
      if (period === null || own === null || own > period) continue;
      const key = JSON.stringify(cells.with(time.index, period));
      groups.set(key, [...new Set([...(groups.get(key) ?? []), ...rows])]);
    }
  }
  return groups;
}

/** Aggregates of one name read the same groups of rows, and are arithmetic of one block. */
function blockName({ owner, function: name }: Aggregate): string {
  return `${owner} ${['closing', 'each', 'earlier', 'running', 'overall', 'over_g', 'followed', 'follow_rate'].includes(name) ? name : ''}`;
}

/** The owner's rows of each group. Without dimensions there is one group, even of no rows. */
function blockOf(
  world: World,
  { dimensions, where }: Question,
  { owner, function: name }: Aggregate,
): ReadonlyMap<string, readonly Row[]> | undefined {
  const places = dimensions.map(({ dataset }) => pathTo(world, owner, dataset));
  const tests = where.map((all) =>
    [...Map.groupBy(all, ({ dataset }) => dataset)].map(([dataset, own]) => ({ own, path: pathTo(world, owner, dataset) })),
  );
  if ([...places, ...tests.flat().map(({ path }) => path)].includes(undefined)) return undefined;
  const groups = new Map<string, Row[]>(dimensions.length === 0 ? [['[]', []]] : []);
  for (const row of datasetNamed(world, owner).rows) {
    let bindings: readonly Binding[] = [new Map([['', row]])];
    for (const path of places) bindings = bindings.flatMap((binding) => expanded(binding, path ?? [], 'inner'));
    for (const binding of bindings) {
      if (!tests.every((either) => either.some(({ own, path }) => holds(binding, path ?? [], own)))) continue;
      const key = JSON.stringify(
        dimensions.map(({ field }, index) => {
          const path = places[index] ?? [];
          const cell = cellOf(binding.get(nameOf(path)), field);
          return name === 'earlier' && field === 't.month' && path.length === 0 ? nextMonth(cell) : cell;
        }),
      );
      const group = groups.get(key) ?? [];
      if (!group.includes(row)) group.push(row);
      groups.set(key, group);
    }
  }
  return groups;
}

/** All rows that a path leads to from what is bound already. `inner` drops what a hop to many does not find. */
function expanded(binding: Binding, path: Path, mode: 'inner' | 'left'): readonly Binding[] {
  let bindings = [binding];
  for (const [index, hop] of path.entries()) {
    const [base, name] = [nameOf(path.slice(0, index)), nameOf(path.slice(0, index + 1))];
    bindings = bindings.flatMap((one) => {
      if (one.has(name)) return [one];
      const start = one.get(base);
      const found: readonly (Row | undefined)[] = start === undefined ? [] : hop.follow(start);
      const kept = found.length === 0 && (hop.kind === 'up' || mode === 'left') ? [undefined] : found;
      return kept.map((row) => new Map([...one, [name, row]]));
    });
  }
  return bindings;
}

/** A test beyond a hop to many that is not bound asks whether any row fits. */
function holds(binding: Binding, path: Path, tests: readonly Test[]): boolean {
  const first = path.findIndex((hop, index) => hop.kind !== 'up' && !binding.has(nameOf(path.slice(0, index + 1))));
  const root = first === -1 ? path : path.slice(0, first + 1);
  const rows = expanded(binding, root, 'inner').flatMap((one) => expanded(one, path, 'left'));
  return rows.some((one) => tests.some((test) => fits(one.get(nameOf(path)), test)));
}

/** As SQL: what compares with NULL is not true. */
function fits(row: Row | undefined, { op, value }: Test): boolean {
  const { g = null, v = null, n = null } = row ?? {};
  if (op === 'n>') return n !== null && n > value;
  if (op === 'null') return v === null;
  if (op === '>') return v !== null && v > value;
  return g !== null && (op === '=') === (g === value);
}

function nextMonth(cell: Cell): Cell {
  return typeof cell === 'string' ? `2024-0${Number(cell.slice(5, 7)) + 1}-01` : cell;
}

function cellOf(row: Row | undefined, field: 'g' | 't.month' | 'n'): Cell {
  if (field !== 't.month') return row?.[field] ?? null;
  const time = row?.['t'];
  return typeof time === 'string' ? `${time.slice(0, 8)}01` : null;
}

/** The rows that no later one of the same `g`, in the same month where months are asked for, comes after. */
function lastOf(rows: readonly Row[], { all, isMonthly }: { all: readonly Row[]; isMonthly: boolean }): readonly Row[] {
  const entity = (row: Row): string => JSON.stringify([row['g'], isMonthly && cellOf(row, 't.month')]);
  const timed = all.filter(({ t }) => t !== null);
  return rows.filter(
    (row) => row['t'] !== null && !timed.some((other) => entity(other) === entity(row) && String(other['t']) > String(row['t'])),
  );
}

/** Of the rows of the next dataset, those whose last row before them, of the same `g` and in less than 14 days, is one of these. */
function followers({ datasets }: World, owner: string, rows: readonly Row[]): number {
  const place = datasets.findIndex(({ name }) => name === owner);
  const [own, next] = [datasets[place]?.rows ?? [], datasets[place + 1]?.rows ?? datasets[place]?.rows ?? []];
  const day = (row: Row): number => (typeof row['t'] === 'string' ? Date.parse(row['t']) / 86_400_000 : Number.NaN);
  return next.filter((event) => {
    const before = own.filter((row) => row !== event && row['g'] !== null && row['g'] === event['g'] && day(row) <= day(event) && day(row) > day(event) - 14); // prettier-ignore
    const last = before.toSorted((a, b) => day(b) - day(a) || Number(b['id']) - Number(a['id']))[0];
    return last !== undefined && rows.includes(last);
  }).length;
}

function averageOfEach(rows: readonly Row[]): Cell {
  const totals = [...Map.groupBy(rows, ({ t = null }) => t)].flatMap(([time, own]) => {
    const total = time === null ? null : aggregate({ owner: '', function: 'sum' }, own);
    return total === null ? [] : [Number(total)];
  });
  return totals.length === 0 ? null : totals.reduce((sum, total) => sum + total, 0) / totals.length;
}

function aggregate({ function: name }: Aggregate, rows: readonly Row[]): Cell {
  const values = rows.map(({ v = null }) => v).filter((value) => typeof value === 'number');
  const sum = values.reduce((total, value) => total + value, 0);
  switch (name) {
    case 'count_rows':
      return rows.length;
    case 'rows_in_a':
      return rows.filter(({ g }) => g === 'a').length;
    case 'count':
      return values.length;
    case 'count_distinct':
      return new Set(values).size;
    case 'over_g':
      return new Set(values).size;
    case 'earlier':
    case 'overall':
    case 'running':
    case 'sum':
      return values.length === 0 ? null : sum;
    case 'closing':
    case 'followed':
    case 'follow_rate':
      throw new Error('needs more than the rows of its group');
    case 'each':
      return averageOfEach(rows);
    case 'avg':
      return values.length === 0 ? null : sum / values.length;
    case 'min':
      return values.length === 0 ? null : Math.min(...values);
    case 'max':
      return values.length === 0 ? null : Math.max(...values);
  }
  return name satisfies never;
}

function calculated(op: '-' | '/', left: Cell, right: Cell): Cell {
  if (left === null || right === null) return null;
  if (op === '-') return Number(left) - Number(right);
  return right === 0 ? null : Number(left) / Number(right);
}

/** The one path that a dataset's name means: to one; else straight down, or up or down to a bridge and up from it. */
function pathTo(world: World, from: string, to: string): Path | undefined {
  if (from === to) return [];
  const hops = hopsOf(world);
  const ups = hops.filter(({ kind }) => kind === 'up');
  const safe = walks(ups, { from: from, to: to });
  if (safe.length > 0) return safe.length === 1 ? safe[0] : undefined;
  const downs = hops.filter(({ kind }) => kind === 'down');
  const across = hops
    .filter(({ kind }) => kind === 'bridge')
    .flatMap((bridge) => {
      const starts =
        from === bridge.from ? [[]] : [...walks(ups, { from: from, to: bridge.from }), ...walks(downs, { from: from, to: bridge.from })];
      const ends = to === bridge.to ? [[]] : walks(ups, { from: bridge.to, to: to });
      return starts.flatMap((start) => ends.map((end) => [...start, bridge, ...end]));
    });
  const many = [...walks(downs, { from: from, to: to }), ...across];
  return many.length === 1 ? many[0] : undefined;
}

/** Every walk that visits no table twice. */
function walks(hops: readonly Hop[], ends: { from: string; to: string }, seen: readonly string[] = [ends.from]): readonly Path[] {
  const { from, to } = ends;
  return hops
    .filter((hop) => hop.from === from && !seen.includes(hop.to))
    .flatMap((hop) => {
      if (hop.to === to) return [[hop]];
      return walks(hops, { from: hop.to, to }, [...seen, hop.to]).map((rest) => [hop, ...rest]);
    });
}

function hopsOf(world: World): readonly Hop[] {
  return world.datasets.flatMap(({ name, links }) =>
    links.flatMap(({ role, to, via }): readonly Hop[] => {
      const column = `${role}_id`;
      if (via === undefined) {
        const [own, target] = [datasetNamed(world, name), datasetNamed(world, to)];
        return [
          { name: role, kind: 'up', from: name, to, follow: (row) => target.rows.filter(({ id }) => id === row[column]) },
          {
            name: `${name} as ${role}`,
            kind: 'down',
            from: to,
            to: name,
            follow: (row) => own.rows.filter((one) => one[column] === row['id']),
          },
        ];
      }
      const { rows } = datasetNamed(world, via);
      const across = (start: string, end: string): Hop => ({
        name: `${end} via ${via}`,
        kind: 'bridge',
        from: start,
        to: end,
        follow(row) {
          // A pair whose end is missing still counts, as a row of NULLs.
          const pairs = rows.filter((pair) => pair[`${start}_id`] === row['id']);
          return pairs.map((pair) => datasetNamed(world, end).rows.find(({ id }) => id === pair[`${end}_id`]) ?? {});
        },
      });
      return [across(name, to), across(to, name)];
    }),
  );
}

function nameOf(path: Path): string {
  return path.map(({ name }) => name).join(' / ');
}

function datasetNamed({ datasets }: World, name: string): Dataset {
  const found = datasets.find((dataset) => dataset.name === name);
  if (found === undefined) throw new Error(`no dataset ${name}`);
  return found;
}
