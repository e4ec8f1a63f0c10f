/** An error as the API sends it. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  /** The body of an answer. */
  get body(): unknown {
    const { status: code, reason, message } = this;
    const error = { message, domain: 'global', reason, locationType: 'other', location: 'query' };
    return { error: { code, message, errors: [error], status: statusNames[code] ?? 'UNKNOWN' } };
  }

  /** As a part of a job. */
  get proto(): unknown {
    return { reason: this.reason, message: this.message, location: 'query' };
  }
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
