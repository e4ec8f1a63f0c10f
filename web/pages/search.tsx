import type { Found } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Empty, Failure, Said, Title, Waiting } from '../parts/basics.tsx';
import { linkToSubject, type Place } from '../router.ts';

/** Everything that has to do with some words, the best first. */
export function SearchPage({ place }: { readonly place: Place }) {
  const words = place.parts[1] ?? '';
  const { data, error } = useData<Found>(words === '' ? undefined : 'search', { words });
  return (
    <>
      <Title>
        Search: <Said>{words}</Said>
      </Title>
      {error === undefined ? null : <Failure error={error} />}
      {data === undefined && error === undefined && words !== '' ? <Waiting /> : null}
      {data === undefined ? null : <Hits found={data} />}
    </>
  );
}

function Hits({ found: { hits, truncated } }: { readonly found: Found }) {
  if (hits.length === 0) return <Empty>Nothing found. Try other words.</Empty>;
  return (
    <>
      <ul class="hits">
        {hits.map((hit) => (
          <li key={hit.subject}>
            <p>
              <span class="kind soft">{hit.kind}</span>{' '}
              <a href={linkToSubject(hit.subject)}>
                <Said>{hit.name}</Said>
              </a>{' '}
              {hit.contested === true ? <Chip tone="warn">contested</Chip> : null}{' '}
              {hit.stale === true ? <Chip tone="warn">stale</Chip> : null}{' '}
              <span class="soft place">
                <Said>{hit.detail ?? hit.subject}</Said>
              </span>
            </p>
            {hit.description === undefined ? null : (
              <p class="soft">
                <Said>{hit.description}</Said>
              </p>
            )}
          </li>
        ))}
      </ul>
      {truncated ? <p class="soft">Only the first 30. Add words.</p> : null}
    </>
  );
}
