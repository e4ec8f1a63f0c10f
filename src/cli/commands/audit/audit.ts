import { InvalidArgumentError } from '@commander-js/extra-typings';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { AuditVerdict, NotedLine } from '../../../mcp/audit/verify-audit.ts';
import type { Project } from '../../../project/open/open.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

const defaultLimit = 50;
const nothingRecorded = 'No call is recorded yet; ktx mcp serve --http records them.';
const noCalls = 'No recorded call fits; ktx mcp serve --http records calls.';

export const listCommand = defineCommand({
  description:
    'Lists the calls that ktx mcp serve --http answered or refused: when, who, by which client, which tool, how it ended. The calls are ' +
    'in .ktx/audit. ktx audit verify tells whether a line was changed or removed.',
  examples: [
    ['ktx audit list', `the last ${defaultLimit} calls`],
    ['ktx audit list --person ann --since 2026-11-01 --json', 'everything about them, as JSON'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .option('--person <name>', 'only calls with the token or login of this person')
      .option('--tool <name>', 'only calls of this tool')
      .option('--outcome <code>', 'only calls that ended so: ok, or the code of an error')
      .option('--since <day>', 'only calls since this day, like 2026-11-27 (UTC)', parseDay)
      .option(
        '--limit <number>',
        `the most calls; the latest ones (default: ${defaultLimit})`,
        parsePositiveInteger,
      ),
  async run({ options: { limit = defaultLimit, ...filter } }, context) {
    const project = await context.project({ mayAsk: false });
    const { listAuditedCalls } = await import('../../../mcp/audit/list-audit.ts');
    await using state = await openAuditState(project, context);
    const calls = await listAuditedCalls(project.dir, { ...filter, limit }, state.chain);
    const names = ['at', 'person', 'role', 'client', 'tool', 'connection', 'rows', 'ms', 'outcome'];
    return {
      data: { calls },
      verbatim: true,
      table: {
        columns: names.map((name) => ({ name })),
        rows: calls.map(({ at, person, role, client, tool, connection, rows, ms, outcome }) => {
          const when = at.slice(0, 19).replace('T', ' ');
          return [when, person, role, client, tool, connection, rows, ms, outcome];
        }),
      },
      notes: [calls.length === 0 ? noCalls : formatCount(calls.length, 'call')],
    };
  },
});

export const verifyCommand = defineCommand({
  description:
    'Checks the whole audit: each line has the hash of the line before, and the end is known outside of the project. Names each line that ' +
    'was changed, removed, moved or added. Note down the last line that it prints, and a later --expect proves that everything up to it ' +
    'is as it was, even to somebody who does not trust this machine.',
  examples: [
    ['ktx audit verify', 'exit code 1 if the audit was tampered with, 3 after a crash'],
    ['ktx audit verify --expect 1041:9f2c…', 'that line is still there, unchanged'],
  ],
  define: (command) =>
    command.option('--expect <seq:hash>', 'a last line that was noted down earlier', parseNoted),
  async run({ options: { expect } }, context) {
    const project = await context.project({ mayAsk: false });
    const { verifyAudit, verifySharedAudit } = await import('../../../mcp/audit/verify-audit.ts');
    await using opened = await openAuditState(project, context);
    const options = { env: context.host.env, expect };
    const verdict =
      opened.chain === undefined
        ? await verifyAudit(project.dir, options)
        : await verifySharedAudit(project.dir, opened.chain, options);
    const { state, problems } = verdict;
    return {
      data: verdict,
      text: verdictText(verdict),
      ...(state === 'unfinished' ? { exitCode: 3 as const } : {}),
      failure: state === 'damaged' ? auditDamaged(problems.length) : undefined,
    };
  },
});

async function openAuditState(project: Project, { host }: CommandContext) {
  const { openServeState } = await import('../../../mcp/shared/serve-state.ts');
  return openServeState(project, host.env);
}

function verdictText({ lines, head, problems, unfinished }: AuditVerdict): string {
  return [
    ...problems.map(({ file, line, problem }) =>
      line === 0 ? `at the end: ${problem}` : `${file}:${line}: ${problem}`,
    ),
    ...unfinished.map(
      ({ file, line, bytes }) =>
        `${file}:${line}: ${formatCount(bytes, 'byte')} that belong to no answer: ktx ended while it wrote them.`,
    ),
    lines === 0 && problems.length === 0 ? nothingRecorded : formatCount(lines, 'line'),
    ...(head.seq === 0 ? [] : [`last line: ${head.seq}:${head.hash}`]),
  ].join('\n');
}

function auditDamaged(count: number): UserError {
  const message = `The audit is not as ktx wrote it: ${formatCount(count, 'problem')}.`;
  return new UserError('audit_damaged', message, {
    hint: 'Keep .ktx/audit as it is, and compare it with a backup.',
  });
}

function parseDay(value: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return value;
  throw new InvalidArgumentError('a day like 2026-11-27');
}

function parseNoted(value: string): NotedLine {
  const [, seq = '', hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(value) ?? [];
  if (hash !== '') return { seq: Number(seq), hash };
  throw new InvalidArgumentError('number and hash, as ktx audit verify prints them');
}
