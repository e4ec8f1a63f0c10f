/**
 * Suites that `npm test` leaves to `npm run test:slow`, which `.ci/run` runs after it. Each repeats
 * at length what a faster suite checks once: the reason names that suite.
 */
export const slowSuites: Readonly<Record<string, string>> = {
  'test/cli/mcp-clients.test.ts':
    'adds ktx to clients as a process, and Claude Code lists it; test/cli/client-entries.test.ts edits their files',
  'test/conformance/tpcds/tpcds.test.ts':
    'the queries of TPC-DS; test/conformance/semantic-layer.test.ts has golden rows of each kind',
  'test/conformance/tpch/tpch.test.ts':
    'the queries of TPC-H; test/conformance/semantic-layer.test.ts has golden rows of each kind',
  'test/chat/grounding/second.test.ts':
    'a set of answers with every fault; test/chat/grounding/grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/third.test.ts':
    'two sets of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/fifth.test.ts':
    'two sets of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/seventh.test.ts':
    'two sets of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/ninth.test.ts':
    'a set of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/tenth.test.ts':
    'a set of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/eleventh.test.ts':
    'a set of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/chat/grounding/twelfth.test.ts':
    'a set of answers with every fault; grounding.test.ts has one of 400, and rules/ each rule',
  'test/contract/claude-agent.test.ts':
    'every way to pay for Claude Code; test/contract/agent-backends.test.ts runs one',
  'test/chat/hostile-mcp-server.test.ts':
    'floods and bombs of a foreign MCP server; test/chat/mcp-servers.test.ts has servers that lie',
  'test/contract/llm-faults.test.ts':
    'each fault once, always and in a loop on every backend; test/differential/differential.test.ts plays 13 scripts',
  'test/contract/llm-isolation.test.ts':
    'the real Claude Code program on a hostile machine; test/llm/claude-isolation.test.ts checks the options',
  'test/contract/shared-children.test.ts':
    'what children that serve several calls send; test/llm/claude-pool.test.ts checks the pool',
  'test/e2e/chat-terminal.test.ts':
    'conversations in a real terminal; test/cli/chat-input.test.ts types into one process',
  'test/e2e/dbt.test.ts':
    'a dbt project through the command line; test/sources/dbt.test.ts reads one',
  'test/e2e/dbt-whole.test.ts':
    'a dbt project with everything from its files to answers; test/sources/dbt.test.ts reads one',
  'test/web/apps.test.ts':
    'the apps in a real browser and a real host; test/mcp/apps.test.ts asks their server',
  'test/web/browser.test.ts':
    'every page in a real browser; test/web/safety.test.ts and routes.test.ts ask its server',
  'test/web/asking-browser.test.ts':
    'questions and evals in a real browser; test/web/asking-routes.test.ts asks its server',
  'test/web/printed.test.ts':
    'every page on paper, in a real browser; test/web/routes.test.ts asks for what stands there',
  'test/web/company-browser.test.ts':
    'the login of a company in a real browser; test/web/team-company.test.ts asks its server',
  'test/web/team-browser.test.ts':
    'the page of a server in a real browser; test/web/team-safety.test.ts and team-roles.test.ts ask its server',
  'test/ingest/workers/workers.test.ts':
    'workers as processes beside an ingest; test/store/shared-state.test.ts has their queue and budget',
  'test/ingest/project-sizes.test.ts':
    'the files of 100,000 columns and 20,000 terms; test/context/shards.test.ts splits small ones',
  'test/e2e/demo.test.ts':
    'everything that the demo prints and leaves; test/e2e/readme.test.ts runs it and checks its figures',
  'test/e2e/extras.test.ts':
    'fetches every extra from npm for a packed ktx; test/store/extras.test.ts has a registry of its own. Skipped without npm',
  'test/e2e/every-stage.test.ts':
    'all stages of an ingest on every backend; test/ingest/reading.test.ts checks each stage',
  'test/e2e/interrupted-parse.test.ts':
    'interrupts an ingest of 76 MB as a process; test/sources/parser.test.ts ends the thread',
  'test/e2e/killed.test.ts':
    'kills an ingest at every moment; test/ingest/reading.test.ts kills it once',
  'test/e2e/docs-site.test.ts':
    'builds the site and opens it in a browser; test/docs.test.ts reads every page',
  'test/e2e/server-guide.test.ts':
    'the commands of the guide to the server, as they stand; test/cli/mcp-http.test.ts serves in a folder',
  'test/e2e/tutorial.test.ts':
    'walks the tutorial in processes; test/docs.test.ts checks its commands',
  'test/e2e/package.test.ts':
    'the packed package from nothing to an answer; test/cli/commands.test.ts runs every command',
  'test/e2e/publish-crash.test.ts':
    'kills an ingest at every step of publishing; test/ingest/odd-files.test.ts saves files during each',
  'test/e2e/setup-terminal.test.ts':
    'the questions of setup in a real terminal; test/cli/setup.test.ts answers them in one process',
  'test/ingest/cached-runs.test.ts':
    'histories of changes with and without what runs keep; test/ingest/passed-probes.test.ts checks the keys',
  'test/eval/demo-questions.test.ts':
    'the questions of the demo as processes; test/eval/run.test.ts runs question sets in one process',
  'test/eval/github-action.test.ts':
    'the workflow for pull requests, step by step; test/eval/run.test.ts runs and compares questions',
  'test/eval/killed.test.ts':
    'kills runs of imported questions; test/eval/resume.test.ts kills one of eight cases. KTX_EVAL_CASES sets another number',
  'test/ingest/workers/killed-workers.test.ts':
    '10,000 items with kills of workers, ingest and Postgres; test/ingest/workers/workers.test.ts kills each once. KTX_WORK_ITEMS sets another number',
  'test/ingest/hijacked.test.ts':
    'a model on every backend that does what an attacker says; test/ingest/what-leaves.test.ts has one such run',
  'test/ingest/injection.test.ts':
    'hostile pages on every backend; test/ingest/injection-channels.test.ts tries each channel once',
  'test/ingest/rulings.test.ts':
    'decisions of a model on both backends, and kills; curate, reconcile and repair.test.ts check each stage',
  'test/ingest/thousand-items.test.ts':
    'a source of 1,000 items; test/ingest/sources.test.ts ingests a few',
  'test/mcp/two-hundred-callers.test.ts':
    '200 callers of a server for a minute; test/mcp/http-identity.test.ts asks with six. KTX_LOAD_SECONDS sets another time',
  'test/llm/budget.test.ts':
    'money and counts in ten ways; test/contract/llm-budget.test.ts has the three that matter most',
  'test/llm/model-checks.test.ts':
    'probes of every model, also offline; test/llm/claude-logins.test.ts probes each login',
  'test/llm/egress.test.ts':
    'the ledger over 100,000 calls, kills and backends; test/ingest/what-leaves.test.ts checks what it says',
  'test/llm/claude-children.test.ts':
    'children that outlive, die or hang; test/llm/claude-pool.test.ts checks the pool',
  'test/mcp/conformance/official-suite.test.ts':
    'the official suite over HTTP; test/mcp/http.test.ts has clients of both revisions',
  'test/mcp/ingest.test.ts':
    'ingests over MCP in real time; test/tools/toolbox.test.ts calls the tool',
  'test/mcp/tool-fuzz.test.ts':
    '5,000 random calls of the tools; test/mcp/hostile-client.test.ts sends each kind of bad input',
  'test/mcp/resource-limits.test.ts':
    'forty statements per engine that eat memory or time; test/warehouse/engine-process.test.ts has a few',
  'test/scan/killed.test.ts':
    'kills scans of 150 tables; test/scan/resume.test.ts stops one at its budget and resumes it',
  'test/scan/large.test.ts':
    'millions of rows and a thousand columns; test/scan/large-tables.test.ts has a long column of distinct values',
  'test/scan/monotone.test.ts':
    'scores joins with less known and with more; test/scan/quality.test.ts does so for declared keys',
  'test/scan/patterns.test.ts':
    'scores the joins of 22 databases; test/scan/join-rules.test.ts checks each rule',
  'test/scan/quality.test.ts':
    'scores the discovery of joins on eight databases; test/scan/scan.test.ts checks each rule',
  'test/security/hostile-clone.test.ts':
    'every command and fifty tricks as processes; test/trust/command-line.test.ts asks for approval in one',
  'test/semantic/fuzz.test.ts':
    'random models against a brute-force reading; test/semantic/fuzz-regressions.test.ts has what it found',
  'test/semantic/property.test.ts':
    'random queries on random data; test/conformance/semantic-layer.test.ts has golden rows',
  'test/sources/every-reader.test.ts':
    'every reader on 60 hostile texts of 1 MB; test/sources/linear-time.test.ts has those that were slow once',
  'test/sources/dbt-git.test.ts':
    'dbt from real git repositories; test/sources/dbt.test.ts reads folders',
  'test/warehouse/dead-client.test.ts':
    'what each server does when ktx is killed; test/warehouse/engine-process.test.ts kills processes',
  'test/warehouse/engine-process-limits.test.ts':
    'statements that take a process down; test/warehouse/engine-process.test.ts has one of each kind',
  'test/warehouse/gate-fuzz.test.ts':
    'random statements; test/warehouse/gate.test.ts has the hostile corpus',
};

/** Slow suites that bound a time. They run alone, since other suites would take the processors. */
export const quietSuites: string[] = [
  'test/mcp/resource-limits.test.ts',
  'test/warehouse/dead-client.test.ts',
  'test/warehouse/engine-process-limits.test.ts',
];

/** `fast` (the default), `slow` or `all`. */
export const suites = process.env['KTX_SUITES'] ?? 'fast';

/** Whether this run has the cases of `slowCases`. */
export const hasSlowCases = suites !== 'fast';

/**
 * Files of which `npm test` runs most cases. They leave to `npm run test:slow` what the reason
 * says, with the faster test of the same rule, and run there as a whole.
 */
export const slowCases: Readonly<Record<string, string>> = {
  'test/contract/agent-backends.test.ts':
    'most conversations on the Claude Code program; the others of the file, and test/contract/agent-session.test.ts, use it',
  'test/contract/agent-session.test.ts':
    'conversations on the Claude Code program; agent-backends.test.ts has the main ones',
  'test/contract/claude-context.test.ts':
    'two more ways to fill the context of the Claude Code program, and a long answer of a tool; the file fills it once',
  'test/contract/llm-budget.test.ts':
    'the budget on the Claude Code program; the same cases use another backend, and test/differential/differential.test.ts compares what both say was used',
  'test/contract/long-conversation.test.ts':
    'conversations of the Claude Code program that no longer fit; the same cases use another backend',
  'test/contract/llm-network.test.ts':
    'a network that is away on the Claude Code program; the same cases use every other backend',
  'test/contract/llm-runtime.test.ts':
    'all cases on the Claude Code program; test/differential/differential.test.ts plays 13 scripts on it',
  'test/differential/differential.test.ts':
    '60 of the generated scripts; npm test plays 13 of them, npm run differential all',
  'test/mcp/stdio.test.ts':
    'the hostile corpus over MCP; the test sends every eighth, test/warehouse/gate.test.ts all',
  'test/cli/llm.test.ts':
    'setup and status of a Claude Code session, and commands that nobody is logged in for; test/llm/claude-logins.test.ts probes logins',
  'test/llm/claude-logins.test.ts':
    'four of seven logins; test/contract/agent-backends.test.ts works with a subscription',
  'test/eval/no-answer.test.ts':
    'refusals on the Claude Code program; the same tests use another backend',
  'test/eval/question-budgets.test.ts':
    'small and large budgets of questions, and the Claude Code program; the same tests have one budget on another backend',
  'test/ingest/model.test.ts':
    'tables described over the gateway and by the Claude Code program, which also misbehaves once; the same cases use two providers, test/contract/llm-runtime.test.ts all',
  'test/ingest/reading.test.ts':
    'prose read by the Claude Code program; the same test reads it with another backend',
  'test/ingest/hostile/hostile-models.test.ts':
    'every behaviour on both backends; npm test tries a sixth of them on one',
  'test/ingest/estimates.test.ts':
    'five projects on both backends; npm test estimates two of them on one',
  'test/ingest/branches.test.ts':
    '25 random histories of two or three branches; npm test plays three of them and one that failed once, KTX_HISTORIES sets another number',
  'test/ingest/stage-budgets.test.ts':
    'small and large budgets of each stage, and the Claude Code program; the same tests have one budget on another backend',
  'test/warehouse/hostile-server.test.ts':
    'servers that send without end in more ways, or slowly; the same tests have one of each kind',
  'test/ingest/bi-sources.test.ts':
    'prose of BI tools read by the Claude Code program; the same test uses another backend',
  'test/ingest/history-pick.test.ts':
    'what the Claude Code program leaves out and looks up; the same tests use another backend',
  'test/ingest/wiki-sources.test.ts':
    'pages of Notion and Confluence read by the Claude Code program; the same test uses another backend',
  'test/ingest/run-spans.test.ts':
    'spans of the Claude Code program; the same tests use another backend',
};

const partSize = 9;

/**
 * All files of `npm run test:slow` in parts that take about the same time: the suites of one folder
 * are spread, since they take long together. The part of the day comes first.
 */
export function slowParts(day: number): readonly (readonly string[])[] {
  const files = [...Object.keys(slowSuites), ...Object.keys(slowCases)].sort();
  const count = Math.ceil(files.length / partSize);
  const parts = Array.from({ length: count }, (_, part) =>
    files.filter((_file, index) => index % count === part),
  );
  return [...parts.slice(day % count), ...parts.slice(0, day % count)];
}
