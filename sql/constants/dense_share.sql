-- scripts/bench_channels.py --modes hybrid@SHARE, on code, contracts and XQuAD en, scored on policies, documentation, XQuAD de and zh:
-- docs/benchmarks.md. Code is best from .3 on, all others up to .7: the largest that costs code half a point at most against
-- .35. By the name of the model, whoever serves it, in 8 bits too. What was not measured gets what loses least on any that was.
create or replace function lexichord.dense_share(space text) returns double precision
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return case regexp_replace(lower(substring(space from '([^/]*)/[^/]*$')), '-int8$', '')
    when 'all-minilm-l6-v2' then 0.4
    when 'e5-small-v2' then 0.5
    else 0.45 end::double precision;
comment on function lexichord.dense_share(text) is
'The share of meaning in a search by default, 0 to 1, for the vectors of a space (provider/model/dimension).';
