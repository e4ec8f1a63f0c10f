import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio';
import { endIngests } from '../../project/learn/ingest-runs.ts';
import type { Project } from '../../project/open/open.ts';
import { openCaller } from '../caller.ts';
import { createServer } from '../server.ts';
import type { TokenCaller } from './token-caller.ts';
import { StdioTransport } from './transport.ts';

interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
  /** Who asks; undefined for whoever runs ktx. */
  readonly as?: Pick<TokenCaller, 'caller' | 'admit'> | undefined;
}

/**
 * Serves MCP over the streams until one of them ends or the signal aborts; running calls are
 * cancelled then. Speaks the 2025 and the current version of the protocol. Nothing else may write
 * to stdout. Whoever calls it closes the project. Throws what `as.admit` rejects with: the message
 * that came is not answered.
 */
export async function serveStdio(
  project: Project,
  { stdin, stdout, signal, as }: StdioOptions,
): Promise<void> {
  // Load the models ahead of the first query. A failure here is reported by the query that needs
  // the model.
  void Promise.allSettled(project.warehouses.map((name) => project.model(name)));
  const caller = as?.caller ?? openCaller(project);
  const ended = new AbortController();
  let refusal: unknown;
  const refuse = (error: unknown): void => {
    refusal = error;
    ended.abort();
  };
  const transport = new StdioTransport(stdin, stdout, as && { admit: as.admit, refuse });
  const handle = serveTransport(() => createServer(caller), { transport });
  for (const event of ['end', 'close', 'error']) stdin.once(event, () => ended.abort());
  for (const event of ['close', 'error']) stdout.once(event, () => ended.abort());
  const stop = AbortSignal.any([signal, ended.signal]);
  if (!stop.aborted) await once(stop, 'abort');
  await handle.close();
  await endIngests(project);
  if (refusal !== undefined) throw refusal;
}
