import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageLogin } from '../broker/page-login.ts';
import type { openAdmission } from '../http/admit.ts';
import type { Identity, Login } from '../http/identity.ts';
import type { ReloadingCallers, TakenCaller } from '../http/reload.ts';
import type { Metrics } from '../usage/metrics.ts';

/** What a page asks of the server whose login it stands behind. */
export interface PageDoor {
  /** Who may come in with a token, by the rules that hold for calls of MCP. */
  readonly whoHas: (token: string) => Promise<Login>;
  /** The caller that somebody with such a token is. */
  readonly take: (identity: Identity) => TakenCaller;
  /** The login at the company’s provider; undefined if there is none for people with a browser. */
  readonly company: PageLogin | undefined;
  readonly report: (entry: object) => void;
  /** Ends everything that runs. */
  readonly end: AbortSignal;
}

/** A page behind the login of the server. */
export interface GuardedPage {
  readonly answers: (path: string) => boolean;
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    door: PageDoor,
  ) => Promise<void>;
}

export interface PageRouteInput {
  readonly page?: GuardedPage | undefined;
  readonly broker?: { readonly page: PageLogin } | undefined;
  readonly end: AbortSignal;
  readonly callers: Pick<ReloadingCallers, 'take'>;
  readonly metrics: Pick<Metrics, 'countRequest'>;
  readonly report: (entry: object) => void;
}

/** Answers the requests of the page, if the server has one. */
export function openPageRoute(
  { page, broker, end, callers, metrics, report }: PageRouteInput,
  admission: Pick<ReturnType<typeof openAdmission>, 'whoHas'>,
) {
  const running = new Set<Promise<void>>();
  const { whoHas } = admission;
  const take = (identity: Identity): TakenCaller => callers.take(identity);
  const door: PageDoor = { whoHas, take, company: broker?.page, report, end };
  return {
    answers: (path: string): boolean => page?.answers(path) === true,
    async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      response.once('close', () => metrics.countRequest(response.statusCode));
      const done = page?.answer(request, response, door) ?? Promise.resolve();
      running.add(done);
      await done.finally(() => running.delete(done));
    },
    settled: async (): Promise<void> => void (await Promise.allSettled(running)),
  };
}
