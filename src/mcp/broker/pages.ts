import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
code{overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1.2rem;margin-right:.5rem}
@media (prefers-color-scheme:dark){body{color:#eee;background:#1a1a1a}}`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** A text that a page is made of: HTML that is safe. */
export type SafeHtml = { readonly html: string };

/** HTML of a template. What is put into it is text, whoever wrote it, unless it is HTML already. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | SafeHtml | readonly SafeHtml[])[]
): SafeHtml {
  const texts = values.map((value) =>
    typeof value === 'string'
      ? escapeText(value)
      : 'html' in value
        ? value.html
        : value.map((part) => part.html).join(''),
  );
  return { html: String.raw({ raw: parts }, ...texts) };
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

interface LoginPage {
  readonly title: string;
  readonly body: SafeHtml;
  /** Where a form of the page may lead in the end, beside this server. */
  readonly formTarget?: string | undefined;
}

/** The headers of a page that no other page may show, and that loads and runs nothing. */
export function pageHeaders(formTarget?: string): Readonly<Record<string, string>> {
  const forms = formTarget === undefined ? "'self'" : `'self' ${formTarget}`;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`: forms would be sent with the origin `null`.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

export function pageText({ title, body }: LoginPage): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <style>
          ${{ html: style }}
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html> `;
  return page.html;
}

export function sendPage(response: ServerResponse, status: number, page: LoginPage): void {
  response.writeHead(status, pageHeaders(page.formTarget));
  response.end(pageText(page));
}
