import type { CallMonitor } from './backend.ts';

/** A monitor that ignores all reports, for probes: they are not repeated. */
export function silentMonitor(signal: AbortSignal): CallMonitor {
  const ignore = (): void => undefined;
  return {
    signal,
    heartbeat: ignore,
    stepFinished: ignore,
    requestSent: ignore,
    answerBegan: ignore,
    addUsage: ignore,
    toolFailed: ignore,
    limitReported: ignore,
    retry: (failure) => Promise.reject(failure),
    warn: ignore,
  };
}
