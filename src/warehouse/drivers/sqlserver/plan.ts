import { Parser } from 'htmlparser2';
import { gateRefusal } from '../../warehouse-error.ts';

/** What a plan says about a statement; undefined where it does not tell. */
export interface ShowplanAmounts {
  readonly rows: number | undefined;
  /** The rows that are read from tables, times how wide they are. */
  readonly bytes: number | undefined;
}

/** Operators that change rows; `Merge Join` and `Merge Interval` do not. */
const writing = /(?:Insert|Update|Delete|Merge)$/i;
/** Elements of the plan that are statements. */
const statements = /^Stmt(?!Simple$)/;
const reading: readonly string[] = ['SELECT', 'SELECT WITHOUT QUERY'];

/**
 * Reads the plan of one statement, which the server makes without running it (SHOWPLAN_XML). Throws
 * `gate_refused` unless it is one SELECT that changes nothing and asks no other server.
 */
export function readPlan(xml: string): ShowplanAmounts {
  const types: string[] = [];
  const faults: string[] = [];
  let bytes: number | undefined;
  let rows: number | undefined;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        if (name === 'StmtSimple') {
          types.push(attributes['StatementType'] ?? '');
          rows = amount(attributes['StatementEstRows']);
        }
        if (statements.test(name)) types.push(name);
        if (name.startsWith('Remote')) faults.push('ask another server');
        if (name !== 'RelOp') return;
        const { PhysicalOp: operator = '' } = attributes;
        if (writing.test(operator)) faults.push('change something');
        if (operator.startsWith('Remote')) faults.push('ask another server');
        if (/(?:Scan|Seek)$/.test(operator)) {
          const read = amount(attributes['EstimatedRowsRead'] ?? attributes['EstimateRows']);
          const width = amount(attributes['AvgRowSize']);
          if (read !== undefined && width !== undefined) bytes = (bytes ?? 0) + read * width;
        }
      },
    },
    { xmlMode: true },
  );
  parser.write(xml);
  parser.end();
  const [type] = types;
  if (type === undefined) throw gateRefusal('engine', 'SQL Server makes no plan of the statement.');
  const isOneQuery = types.length === 1 && reading.includes(type);
  if (!isOneQuery) throw gateRefusal('engine', `SQL Server calls it ${types.join(', ')}.`);
  if (faults[0] !== undefined)
    throw gateRefusal('engine', `SQL Server says that the statement would ${faults[0]}.`);
  return { rows, bytes: bytes === undefined ? undefined : Math.round(bytes) };
}

function amount(text: string | undefined): number | undefined {
  const number = Number(text);
  return text === undefined || !Number.isFinite(number) ? undefined : number;
}
