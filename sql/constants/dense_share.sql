-- Fitted by scripts/bench_fusion.py on code, contracts and XQuAD en, scored on other kinds: docs/benchmarks.md. By the name of
-- the model, whoever serves it. Of one that was not measured half: no measured model loses more than a point by it on a kind.
create or replace function lexichord.dense_share(space text) returns double precision
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return case lower(substring(space from '([^/]*)/[^/]*$'))
    when 'all-minilm-l6-v2' then 0.4
    when 'all-minilm-l6-v2-int8' then 0.4
    else 0.5 end::double precision;
comment on function lexichord.dense_share(text) is
'The share of meaning in a search by default, 0 to 1, for the vectors of a space (provider/model/dimension).';
