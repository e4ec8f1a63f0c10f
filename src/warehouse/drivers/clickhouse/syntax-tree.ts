import { gateRefusal } from '../../warehouse-error.ts';
import { otherStatementRefusal, unlistedNodeRefusal } from '../../gate/statement-facts.ts';

/** What a statement uses, read from the server's own syntax tree (`EXPLAIN AST`). */
export interface TreeFacts {
  readonly functions: readonly string[];
  /** Names of tables as the tree has them: unquoted, parts joined by dots. */
  readonly tables: readonly string[];
  /** Names on the right of IN: a table, or a column of arrays. */
  readonly sets: readonly string[];
  /** Whether an unqualified name can be that of a common table. */
  readonly hasCommonTables: boolean;
}

interface TreeLine {
  readonly depth: number;
  readonly kind: string;
  /** What stands behind the kind, with the alias. */
  readonly rest: string;
  readonly children: number;
}

const allowedKinds = new Set(
  `SelectWithUnionQuery SelectIntersectExceptQuery SelectQuery ExpressionList WithElement Subquery
  Literal Identifier TableIdentifier Function Asterisk QualifiedAsterisk ColumnsRegexpMatcher
  QualifiedColumnsRegexpMatcher ColumnsListMatcher QualifiedColumnsListMatcher
  ColumnsTransformerList ColumnsApplyTransformer ColumnsExceptTransformer ColumnsReplaceTransformer
  ColumnsReplaceTransformer::Replacement TablesInSelectQuery TablesInSelectQueryElement
  TableExpression TableJoin ArrayJoin OrderByElement InterpolateElement WindowListElement
  WindowDefinition SampleRatio DataType Collation Explain`.split(/\s+/),
);
const roots = new Set(['SelectWithUnionQuery', 'SelectIntersectExceptQuery', 'Explain']);
const setOperators = new Set(
  'in notIn globalIn globalNotIn nullIn notNullIn globalNullIn globalNotNullIn'.split(' '),
);
/** Beyond this the server plans for minutes. */
const maxCommonTables = 200;

/** Throws `gate_refused` for a statement or a node that is not allowed. */
export function readSyntaxTree(text: string): TreeFacts {
  const lines = readLines(text);
  const [root] = lines;
  if (root === undefined) throw gateRefusal('statement', 'the text has no statement.');
  if (!roots.has(root.kind)) throw otherStatementRefusal(statementWords(root.kind));
  // EXPLAIN has settings of its own, such as `actions = 1`.
  const isOwnSetting = ({ kind, depth }: TreeLine): boolean =>
    root.kind === 'Explain' && kind === 'Set' && depth === 1;
  for (const line of lines) if (!isOwnSetting(line)) checkNode(line);
  const commonTables = lines.filter(({ kind }) => kind === 'WithElement').length;
  if (commonTables > maxCommonTables)
    throw gateRefusal('parse', `it has more than ${maxCommonTables} CTEs.`);
  const named = (kind: string) => lines.filter((line) => line.kind === kind);
  return {
    functions: named('Function').map(({ rest }) => withoutAlias(rest)),
    tables: named('TableIdentifier').map(({ rest }) => withoutAlias(rest)),
    sets: namesOfSets(lines),
    hasCommonTables: commonTables > 0,
  };
}

function readLines(text: string): readonly TreeLine[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [, indent = '', kind = '', rest = '', children = '0'] =
      /^( *)(\S+) ?(.*?) ?(?:\(children (\d+)\))?$/.exec(line) ?? [];
    return { depth: indent.length, kind, rest, children: Number(children) };
  });
}

function checkNode({ kind, rest, children }: TreeLine): void {
  if (kind === 'Set') throw gateRefusal('node', 'SETTINGS is not allowed; ktx sets its own.');
  if (!allowedKinds.has(kind)) throw unlistedNodeRefusal(statementWords(kind).toLowerCase());
  // FORMAT and INTO OUTFILE stand beside the queries of the union.
  if (kind === 'SelectWithUnionQuery' && children !== 1)
    throw gateRefusal('node', 'FORMAT, SETTINGS and INTO OUTFILE are not allowed.');
  if (kind === 'Explain' && !/^EXPLAIN(?: (?:PLAN|AST|SYNTAX|PIPELINE|ESTIMATE))?$/.test(rest))
    throw gateRefusal('node', `${rest} is not allowed; write EXPLAIN SELECT …`);
}

/** `InsertQuery` is an INSERT statement. */
function statementWords(kind: string): string {
  const words = kind.replace(/(?:Query|Statement)$/, '');
  return words.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
}

function withoutAlias(rest: string): string {
  return rest.replace(/ \(alias .*$/s, '');
}

/** The last argument of each IN, where it is a name. */
function namesOfSets(lines: readonly TreeLine[]): readonly string[] {
  return lines.flatMap((line, index) => {
    if (line.kind !== 'Function' || !setOperators.has(withoutAlias(line.rest))) return [];
    const size = lines.slice(index + 1).findIndex(({ depth }) => depth <= line.depth);
    const inside = lines.slice(index + 1, size < 0 ? undefined : index + 1 + size);
    const last = inside.findLast(({ depth }) => depth === line.depth + 2);
    const isName = last?.kind === 'Identifier' || last?.kind === 'TableIdentifier';
    return isName ? [withoutAlias(last.rest)] : [];
  });
}
