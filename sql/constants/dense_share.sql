-- scripts/bench/channels.py --modes hybrid@SHARE, on code, contracts and XQuAD en, scored on policies, documentation, XQuAD de
-- and zh: docs/log. Code is best from .3 on, all others up to .7: the largest share that costs code half a point at
-- most against .35. By the name of the model, whoever serves it, in 8 bits too. all-MiniLM-L6-v2 and multilingual-e5-small
-- have .4, which what was not measured gets as well.
create or replace function lexichord.dense_share(space text) returns double precision
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return case when regexp_replace(lower(substring(space from '([^/]*)/[^/]*$')), '-int8$', '') in ('e5-small-v2', 'bge-small-en-v1.5')
    then 0.45 else 0.4 end::double precision;
comment on function lexichord.dense_share(text) is
'The share of meaning in a search by default, 0 to 1, for the vectors of a space (provider/model/dimension). Readers may call it.';
