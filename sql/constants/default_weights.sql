-- Eight kinds of questions, dense .25 to .65, by scripts/bench_fusion.py: docs/benchmarks.md. .4 would gain .3 nDCG on the mean
-- and cost code .5 Pass@10; from .5 on code loses more, and from .65 on a rare word alone decides no more.
create or replace function lexichord.default_weights() returns double precision[]
language sql immutable parallel safe
return '{0.35,0.65}'::double precision[];
comment on function lexichord.default_weights() is 'How much meaning and words count in a search by default, {dense,keyword}.';
