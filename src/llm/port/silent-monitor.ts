import type { CallMonitor } from './backend.ts';

/** A monitor that ignores all reports, for probes. */
export function silentMonitor(signal: AbortSignal): CallMonitor {
  const ignore = (): void => undefined;
  return {
    signal,
    heartbeat: ignore,
    stepFinished: ignore,
    requestSent: ignore,
    addUsage: ignore,
    toolFailed: ignore,
    limitReported: ignore,
    warn: ignore,
  };
}
