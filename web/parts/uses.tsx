import type { Explanation } from '../answers.ts';
import { Said } from './basics.tsx';

/** What depends on a subject: a decision changes all of it. */
export function Uses({ of }: { readonly of: Explanation | undefined }) {
  const uses = of?.uses ?? [];
  if (uses.length === 0) return null;
  return (
    <div class="uses">
      <h2>What depends on it</h2>
      <ul>
        {uses.map(({ kind, name, file }) => (
          <li key={`${kind} ${name}`}>
            <span class="soft">{kind}</span> <Said>{name}</Said>{' '}
            <span class="soft file">
              <Said>{file}</Said>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
