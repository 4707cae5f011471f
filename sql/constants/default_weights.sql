-- Chosen on half of a code set (dense .25 to .5) and compared on the other and on contracts: docs/benchmarks.md.
create or replace function lexichord.default_weights() returns double precision[]
language sql immutable parallel safe
return '{0.35,0.65}'::double precision[];
comment on function lexichord.default_weights() is 'How much meaning and words count in a search by default, {dense,keyword}.';
