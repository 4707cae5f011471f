-- Chosen on three kinds of questions (code, contracts, an encyclopaedia) and scored on five others, .25 to .65, by
-- scripts/bench_fusion.py: docs/benchmarks.md. From .5 on code loses, and from .65 on a rare word alone decides no more.
create or replace function lexichord.default_weights() returns double precision[]
language sql immutable parallel safe
return '{0.4,0.6}'::double precision[];
comment on function lexichord.default_weights() is 'How much meaning and words count in a search by default, {dense,keyword}.';
