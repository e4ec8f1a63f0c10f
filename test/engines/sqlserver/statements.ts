/** Words that begin a statement of T-SQL, which needs no `;` before it. */
const beginnings =
  /\b(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|TRUNCATE|CREATE|ALTER|DROP|EXEC(?:UTE)?|GRANT|REVOKE|DENY|SET|DECLARE|PRINT|WAITFOR|BACKUP|DBCC|KILL|SHUTDOWN|USE)\b/gi;

/**
 * The type of each statement in a text, as a plan names it. A word counts where no parenthesis is
 * open, outside of quotes.
 */
export function statementTypes(sql: string): readonly string[] {
  const code = sql
    .replaceAll(/\/\*[^]*?\*\/|--[^\n]*/g, ' ')
    .replaceAll(/N?'(?:[^']|'')*'|\[(?:[^\]]|\]\])+\]|"[^"]*"/g, (quoted) =>
      'x'.repeat(quoted.length),
    );
  const found: string[] = [];
  let [depth, last] = [0, 0];
  for (const { 0: word, index } of code.matchAll(beginnings)) {
    for (const character of code.slice(last, index))
      depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    const before = code.slice(0, index).trimEnd();
    last = index;
    if (
      depth > 0 ||
      /\b(?:UNION|ALL|EXCEPT|INTERSECT|INSERT\s.*|ON|FOR|TIES|GRANT)$/is.test(before)
    )
      continue;
    const name = word.toUpperCase();
    if (name === 'WITH' && before !== '' && !before.endsWith(';')) continue;
    // WITH belongs to the statement behind its tables.
    if (name !== 'WITH') found.push(name);
  }
  const isInto = /\bSELECT\b[^]*\bINTO\b/i.test(code);
  return found.map((name) => {
    if (name === 'SELECT' && isInto) return 'SELECT INTO';
    if (name === 'SELECT' && !/\bFROM\b/i.test(code)) return 'SELECT WITHOUT QUERY';
    if (name === 'EXEC') return 'EXECUTE PROC';
    return name === 'CREATE' || name === 'DROP' || name === 'ALTER' ? `${name} TABLE` : name;
  });
}

/** The plan of a text as the server writes it. */
export function planText(types: readonly string[], rows: number): string {
  const operators: Readonly<Record<string, string>> = {
    INSERT: 'Table Insert',
    UPDATE: 'Clustered Index Update',
    DELETE: 'Clustered Index Delete',
    MERGE: 'Table Merge',
    'SELECT INTO': 'Table Insert',
  };
  const statements = types.map((type, index) => {
    const operator = operators[type] ?? 'Compute Scalar';
    return `<StmtSimple StatementCompId="${index + 1}" StatementEstRows="${rows}" StatementType="${type}" StatementSubTreeCost="0.01" StatementText="…"><QueryPlan><RelOp NodeId="0" PhysicalOp="${operator}" EstimateRows="${rows}" AvgRowSize="11"><RelOp NodeId="1" PhysicalOp="Table Scan" EstimateRows="${rows}" EstimatedRowsRead="${rows}" AvgRowSize="100" TableCardinality="${rows}"/></RelOp></QueryPlan></StmtSimple>`;
  });
  return `<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan" Version="1.564"><BatchSequence><Batch><Statements>${statements.join('')}</Statements></Batch></BatchSequence></ShowPlanXML>`;
}

interface ServerFault {
  readonly number: number;
  readonly text: string;
}

/** The error that SQL Server would report for what DuckDB says. */
export function serverFault(message: string): ServerFault {
  const column =
    /Referenced column "(?<name>[^"]+)"/.exec(message) ??
    /does not have a column named "(?<name>[^"]+)"/.exec(message);
  if (column !== null)
    return { number: 207, text: `Invalid column name '${column.groups?.['name']}'.` };
  const table = /Table with name (?<name>\S+) does not exist/.exec(message)?.groups?.['name'];
  if (table !== undefined) return { number: 208, text: `Invalid object name '${table}'.` };
  const called = /Function with name (?<name>\S+) does not exist/.exec(message)?.groups?.['name'];
  if (called !== undefined)
    return { number: 195, text: `'${called}' is not a recognized built-in function name.` };
  if (/^Parser Error|cannot be translated/.test(message))
    return { number: 102, text: `Incorrect syntax near '…'.` };
  if (/GROUP BY clause cannot contain aggregates/i.test(message))
    return {
      number: 144,
      text: 'Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.',
    };
  return { number: 50_000, text: message.split('\n')[0] ?? '' };
}
