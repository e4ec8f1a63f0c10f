import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio';
import { endIngests } from '../../project/learn/ingest-runs.ts';
import type { Project } from '../../project/open/open.ts';
import { openCaller } from '../caller.ts';
import { createServer } from '../server.ts';
import { StdioTransport } from './transport.ts';

interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
}

/**
 * Serves MCP over the streams until one of them ends or the signal aborts; running calls are
 * cancelled then. Speaks the 2025 and the current version of the protocol. Nothing else may write
 * to stdout. The caller closes the project.
 */
export async function serveStdio(
  project: Project,
  { stdin, stdout, signal }: Streams,
): Promise<void> {
  // Load the models ahead of the first query. A failure here is reported by the query that needs
  // the model.
  void Promise.allSettled(project.warehouses.map((name) => project.model(name)));
  const caller = openCaller(project);
  const handle = serveTransport(() => createServer(caller), {
    transport: new StdioTransport(stdin, stdout),
  });
  const ended = new AbortController();
  for (const event of ['end', 'close', 'error']) stdin.once(event, () => ended.abort());
  for (const event of ['close', 'error']) stdout.once(event, () => ended.abort());
  const stop = AbortSignal.any([signal, ended.signal]);
  if (!stop.aborted) await once(stop, 'abort');
  await handle.close();
  await endIngests(project);
}
