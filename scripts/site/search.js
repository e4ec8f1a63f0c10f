// A classic script: modules and fetch do not work for a page that is opened from the file system.
(function () {
  const up = document.body.dataset.up;
  const query = document.getElementById('query');
  const results = document.getElementById('results');
  let index;

  function openIndex() {
    if (index !== undefined) return index;
    index = new window.MiniSearch({
      fields: ['heading', 'page', 'text'],
      storeFields: ['heading', 'page', 'address', 'text'],
      searchOptions: {
        boost: { heading: 4, page: 2 },
        prefix: true,
        fuzzy: 0.2,
        combineWith: 'AND',
      },
    });
    index.addAll(window.ktxSections.map((section, id) => ({ id, ...section })));
    return index;
  }

  function resultOf({ heading, page, address, text }) {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = up + address;
    link.textContent = heading === page ? page : `${page}: ${heading}`;
    const start = document.createElement('p');
    start.textContent = text.slice(0, 160);
    item.append(link, start);
    return item;
  }

  query.addEventListener('input', () => {
    const wanted = query.value.trim();
    const found = wanted === '' ? [] : openIndex().search(wanted).slice(0, 20);
    results.replaceChildren(...found.map(resultOf));
    if (wanted !== '' && found.length === 0) results.textContent = 'Nothing found.';
    results.hidden = wanted === '';
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || document.activeElement === query) return;
    event.preventDefault();
    query.focus();
  });
})();
