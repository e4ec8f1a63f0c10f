import { defaultTolerance, type MatchRule } from '../cases/question-set-schema.ts';

/** A result as warehouses and evidence have it. */
export interface ResultTable {
  readonly columns: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly rows: readonly (readonly unknown[])[];
}

type Value = string | number | null;
type Row = readonly Value[];

/** Ways to assign columns that are tried, and steps in looking for them; more are there only where many columns hold the same. */
const mostAssignments = 500;
const mostSteps = 100_000;

/**
 * Why the rows that were got are not the golden ones; undefined where they are. ResultTable are compared as multisets (in their
 * order, where it is kept), numbers within the tolerance. Several columns may hold the same values, so assignments of columns
 * are tried until the rows as a whole agree.
 */
export function rowDifference(
  got: ResultTable,
  golden: ResultTable,
  rule: MatchRule,
): string | undefined {
  const isSame = sameValue(rule);
  if (golden.rows.length !== got.rows.length) {
    return `${got.rows.length} rows where ${golden.rows.length} are right`;
  }
  const [have, want] = [valuesOf(got), valuesOf(golden)];
  const candidates = golden.columns.map((column, at) =>
    candidatesFor({ at, name: column.name, have, want, got }, rule, isSame),
  );
  const lacking = candidates.findIndex((columns) => columns.length === 0);
  if (lacking !== -1) {
    const name = golden.columns[lacking]?.name ?? '';
    return rule.columns === 'by_name'
      ? `no column ${name}, or other values in it`
      : `no column with the values of ${name}`;
  }
  if (!placed(candidates)) return 'fewer columns with the same values than the golden ones';
  const among: Choosing = {
    candidates,
    twins: twinsOf(have, got.columns.length),
    budget: { steps: mostSteps },
  };
  let tried = 0;
  for (const columns of assignments(among)) {
    const picked = have.map((row) => columns.map((at) => row[at] ?? null));
    if (rule.order === 'keep' ? inOrder(picked, want, isSame) : asMultiset(picked, want, isSame))
      return undefined;
    if ((tried += 1) >= mostAssignments) break;
  }
  const [columns = []] = assignments({ ...among, budget: { steps: mostSteps } });
  const picked = have.map((row) => columns.map((at) => row[at] ?? null));
  const isOnlyOrder = rule.order === 'keep' && asMultiset(picked, want, isSame);
  return isOnlyOrder
    ? 'the right rows in another order'
    : 'the columns hold the right values, the rows do not';
}

/** ResultTable in which a difference is looked for. */
const mostShown = 200;

/** A golden row that was not got, and what comes nearest to it: rows are told apart best by eye. */
export function nearestRow(got: ResultTable, golden: ResultTable, rule: MatchRule): string {
  const isSame = sameValue(rule);
  const [have, want] = [valuesOf(got).slice(0, mostShown), valuesOf(golden).slice(0, mostShown)];
  const shared = (row: Row, other: Row): number =>
    row.filter((value) => other.some((each) => isSame(each, value))).length;
  const at = Math.max(
    0,
    want.findIndex((row) => !have.some((other) => shared(row, other) === row.length)),
  );
  const likeness = have.map((other) => shared(want[at] ?? [], other));
  const nearest = got.rows[likeness.indexOf(Math.max(...likeness))];
  const said = (row: readonly unknown[] | undefined): string =>
    row === undefined ? 'none' : JSON.stringify(row).slice(0, 200);
  return `golden has ${said(golden.rows[at])}, the nearest row is ${said(nearest)}`;
}

/** Numbers that came as text (a double cannot hold them) stay text where they are whole, so that ids never blur. */
function valuesOf({ columns, rows }: ResultTable): readonly Row[] {
  const isNumeric = columns.map(({ type }) => type === 'decimal' || type === 'integer');
  return rows.map((row) => columns.map((_, at) => valueOf(row[at], isNumeric[at] ?? false)));
}

function valueOf(cell: unknown, isNumeric: boolean): Value {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'boolean') return Number(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  if (isNumeric && /^-?\d+\.\d+$/.test(text)) return Number(text);
  // A day, and its first moment.
  return text.replace(/^(\d{4}-\d\d-\d\d)[T ]00:00:00(?:\.0+)?(?:Z|[+-]00(?::?00)?)?$/, '$1');
}

type Same = (a: Value, b: Value) => boolean;

function sameValue({ numeric }: MatchRule): Same {
  const { rel, abs } = numeric;
  return (a, b) => {
    if (a === b) return true;
    const [x, y] = [numberOf(a, b), numberOf(b, a)];
    if (x === undefined || y === undefined || isExact(x, y, numeric))
      return x !== undefined && x === y;
    return Math.abs(x - y) <= Math.max(abs, rel * Math.max(Math.abs(x), Math.abs(y)));
  };
}

/** Ids that differ by one are near each other only as numbers: whole ones are the same or not, unless the rule is wider than the default. */
const isExact = (a: number, b: number, { rel, abs }: MatchRule['numeric']): boolean =>
  rel <= defaultTolerance && abs <= defaultTolerance && Number.isInteger(a) && Number.isInteger(b);

/** Text counts as a number only beside one. */
function numberOf(value: Value, beside: Value): number | undefined {
  if (typeof value === 'number') return value;
  const isPlain =
    typeof value === 'string' &&
    typeof beside === 'number' &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);
  return isPlain ? Number(value) : undefined;
}

interface Wanted {
  /** Index of the golden column. */
  readonly at: number;
  readonly name: string;
  readonly have: readonly Row[];
  readonly want: readonly Row[];
  readonly got: ResultTable;
}

function candidatesFor(
  { at, name, have, want, got }: Wanted,
  rule: MatchRule,
  isSame: Same,
): readonly number[] {
  const column = (rows: readonly Row[], index: number): readonly Row[] =>
    rows.map((row) => [row[index] ?? null]);
  const wanted = column(want, at);
  return got.columns.flatMap((each, index) => {
    if (rule.columns === 'by_name' && each.name.toLowerCase() !== name.toLowerCase()) return [];
    return asMultiset(column(have, index), wanted, isSame) ? [index] : [];
  });
}

interface Choosing {
  readonly candidates: readonly (readonly number[])[];
  /** Of each column that was got, the first that is the same in every row: it does not matter which of them is taken. */
  readonly twins: readonly number[];
  readonly budget: { steps: number };
}

function twinsOf(have: readonly Row[], width: number): readonly number[] {
  const isTwin = (a: number, b: number): boolean => have.every((row) => row[a] === row[b]);
  const twins: number[] = [];
  for (let at = 0; at < width; at += 1) twins.push(twins.find((first) => isTwin(first, at)) ?? at);
  return twins;
}

/** Every choice of one candidate a column, none twice, and none that differs from another only by twins. */
function* assignments(
  among: Choosing,
  taken: readonly number[] = [],
): Generator<readonly number[]> {
  const { candidates, twins, budget } = among;
  const next = candidates[taken.length];
  if (next === undefined) {
    yield taken;
    return;
  }
  const tried = new Set<number>();
  for (const column of next) {
    const twin = twins[column] ?? column;
    if (taken.includes(column) || tried.has(twin)) continue;
    tried.add(twin);
    if ((budget.steps -= 1) < 0) return;
    yield* assignments(among, [...taken, column]);
  }
}

function sameRow(a: Row, b: Row, isSame: Same): boolean {
  return a.every((value, at) => isSame(value, b[at] ?? null));
}

function inOrder(have: readonly Row[], want: readonly Row[], isSame: Same): boolean {
  return have.every((row, at) => sameRow(row, want[at] ?? [], isSame));
}

/** Sorted, equal rows stand side by side; what tolerance brings out of line is matched by augmenting paths. */
function asMultiset(have: readonly Row[], want: readonly Row[], isSame: Same): boolean {
  const columns = mostTelling(have, want);
  const [left, right] = [have, want].map((rows) =>
    rows.toSorted((a, b) => byValue(a, b, columns)),
  ) as [Row[], Row[]];
  const apart = left.flatMap((row, at) => (sameRow(row, right[at] ?? [], isSame) ? [] : [at]));
  if (apart.length === 0) return true;
  // Of many rows only those that stand apart are matched anew: few are in reach of each other's tolerance.
  const off = left.length <= 500 ? [...left.keys()] : apart;
  if (off.length > 2000) return false;
  const [open, partners] = [off.map((at) => left[at] ?? []), off.map((at) => right[at] ?? [])];
  const fits = open.map((row) =>
    partners.flatMap((other, at) => (sameRow(row, other, isSame) ? [at] : [])),
  );
  return fits.every((choices) => choices.length > 0) && placed(fits);
}

/** Whether each finds a choice of its own. */
function placed(fits: readonly (readonly number[])[]): boolean {
  const owner = new Map<number, number>();
  return fits.every((_, row) => place(row, { fits, owner, seen: new Set() }));
}

interface Matching {
  readonly fits: readonly (readonly number[])[];
  readonly owner: Map<number, number>;
  readonly seen: Set<number>;
}

function place(row: number, state: Matching): boolean {
  for (const choice of state.fits[row] ?? []) {
    if (state.seen.has(choice)) continue;
    state.seen.add(choice);
    const holder = state.owner.get(choice);
    if (holder === undefined || place(holder, state)) {
      state.owner.set(choice, row);
      return true;
    }
  }
  return false;
}

/** What tells rows apart comes first: an id, and not a rounded number, by which rows that tie would be sorted by chance. */
function mostTelling(have: readonly Row[], want: readonly Row[]): readonly number[] {
  const values = (rows: readonly Row[], at: number): number =>
    new Set(rows.map((row) => row[at])).size;
  const telling = (want[0] ?? []).map((_, at) => Math.min(values(have, at), values(want, at)));
  return [...telling.keys()].sort((a, b) => (telling[b] ?? 0) - (telling[a] ?? 0));
}

function byValue(a: Row, b: Row, columns: readonly number[]): number {
  for (const at of columns) {
    const order = compare(a[at] ?? null, b[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** NULL, numbers, texts. */
function compare(a: Value, b: Value): number {
  if (a === b) return 0;
  const rank = (value: Value): number => (value === null ? 0 : typeof value === 'number' ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return (a ?? 0) < (b ?? 0) ? -1 : 1;
}
