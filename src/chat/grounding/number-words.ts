/** What a word behind a number multiplies it by. */
export const scaleWords: ReadonlyMap<string, number> = new Map([
  ...['k', 'thousand', 'tsd', 'tausend', 'mille', 'mil', 'mila', 'duizend', 'tusen', 'tys'].map(
    (word) => [word, 1e3] as const,
  ),
  ...[
    'm',
    'mn',
    'mm',
    'mio',
    'mln',
    'million',
    'millions',
    'millionen',
    'millones',
    'milioni',
    'milione',
    'milhões',
    'milhão',
    'miljoen',
    'miljoner',
    'milionów',
    'milionu',
  ].map((word) => [word, 1e6] as const),
  ...[
    'b',
    'bn',
    'billion',
    'billions',
    'mrd',
    'milliard',
    'milliards',
    'milliarden',
    'miliardi',
    'miliardo',
    'bilhões',
    'bilhão',
    'miljard',
    'miljarder',
    'miliardów',
  ].map((word) => [word, 1e9] as const),
]);

/** Numbers that people write as words. Not the words for one, which are articles as well. */
export const numberWords: ReadonlyMap<string, number> = new Map(
  [
    ['two', 'zwei', 'deux', 'dos'],
    ['three', 'drei', 'trois', 'tres'],
    ['four', 'vier', 'quatre', 'cuatro'],
    ['five', 'fünf', 'cinq', 'cinco'],
    ['six', 'sechs', 'seis'],
    ['seven', 'sieben', 'sept', 'siete'],
    ['eight', 'acht', 'huit', 'ocho'],
    ['nine', 'neun', 'neuf', 'nueve'],
    ['ten', 'zehn', 'dix', 'diez'],
    ['eleven', 'elf', 'onze', 'once'],
    ['twelve', 'zwölf', 'douze', 'doce'],
  ].flatMap((words, index) => words.map((word) => [word, index + 2] as const)),
);

/** Words that say that a number went down or is missing. */
export const downWords =
  /(?<![\p{L}])(?:down|fell|falls?|fallen|drop(?:ped|s)?|declin\w*|decreas\w*|less|lower|fewer|minus|loss|lost|shrank|behind|below|cut|gesunken|sank|sinkt|gefallen|fiel|rückgang|weniger|niedriger|verlust|baiss\w*|diminu\w*|recul\w*|moins|perte|baj\w*|cay\w*|disminu\w*|menos|pérdida|queda|caiu|caíram|diminuiu|menor|calo|calat\w*|scen\w*|perdita|daling|gedaald|minder|verlies|minskade|minskat|sjönk|spad\w*|mniej)(?![\p{L}])/iu;

/** Words for what may be a rough number. */
export const aboutWords =
  /(?:\b(?:about|around|roughly|approximately|nearly|almost|some|over|more than|under|less than|just|etwa|rund|ungefähr|circa|ca\.?|knapp|gut|fast|über|environ|près de|presque|plus de|unos|casi|alrededor de|más de)\s*|[~≈>]\s?)$/iu;

/** Words of a sentence that compares two numbers, or a part with the whole. */
export const comparisonWords =
  /%|\b(?:more|less|than|differ\w*|ahead|behind|versus|vs|compar\w*|increas\w*|decreas\w*|gr[eo]w\w*|rose|rise|fell|down|up|gap|times|share|of|per|average|mehr|weniger|als|unterschied|differenz|gegenüber|gestiegen|gesunken|wuchs|anteil|mal|vor|pro|plus|moins|écart|hausse|baisse|fois|part|más|menos|diferencia|veces|più|meno|differenza|volte|mais|diferença|vezes|meer|minder|verschil|keer|mer|mindre|gånger|więcej|mniej|razy)(?![\p{L}])|倍|増|減|差/iu;
