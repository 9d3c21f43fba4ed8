-- Anchors: once an hour, what the heads of all audit streams were. Rows that are cut off afterwards, and a chain that is
-- computed anew after a change, no longer fit the anchor; an anchor that is changed no longer fits the ones after it.

-- The lines of a stream are hashed with a line feed between their parts: none may hold one.
alter table audit add constraint audit_one_line check (position(E'\n' in stream || event || actor) = 0);
-- The export reads by time.
create index audit_by_time on audit (tenant_id, happened_at, stream, number);

-- Anchors of a tenant form a chain of their own. One an hour, whoever asks and however often.
alter table audit_anchors add column number int not null;
alter table audit_anchors add column hour timestamptz not null;
alter table audit_anchors add constraint audit_anchors_number unique (tenant_id, number);
alter table audit_anchors add constraint audit_anchors_hour unique (tenant_id, hour);

-- The heads that had moved since the anchor before: with those of all earlier anchors, every head there was.
create table audit_anchor_heads (
  tenant_id uuid not null references tenants,
  anchor int not null,
  stream text not null,
  last_number int not null,
  last_hash bytea not null,
  primary key (tenant_id, anchor, stream)
);
create index audit_anchor_heads_of_stream on audit_anchor_heads (tenant_id, stream, anchor desc);

alter table audit_anchor_heads enable row level security;
alter table audit_anchor_heads force row level security;
create policy tenant_rows on audit_anchor_heads using (tenant_id = aroko_tenant()) with check (tenant_id = aroko_tenant());
grant select on audit_anchor_heads to aroko_app, aroko_read;
create trigger anchor_heads_are_final before update or delete on audit_anchor_heads
  for each row execute function aroko_audit_is_final();
create trigger anchor_heads_are_not_emptied before truncate on audit_anchor_heads
  for each statement execute function aroko_audit_is_final();

-- Anchors the heads of the tenant, unless that was done in this hour or nothing has moved since. The root stands for every
-- head: it is computed from the root before and the heads that moved, sorted by the bytes of their names.
create function aroko_anchor() returns table (number int, root bytea, streams int, moved int)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_tenant uuid := aroko_tenant();
  v_hour timestamptz := date_trunc('hour', clock_timestamp(), 'UTC');
  v_last audit_anchors;
  v_number int;
  v_root bytea;
  v_streams int;
  v_moved int;
  v_lines text;
begin
  if v_tenant is null then
    raise exception 'an anchor needs a tenant' using errcode = '42501';
  end if;
  -- Several gateways ask at once: one anchors, the others find it done.
  perform pg_advisory_xact_lock(hashtextextended('aroko_anchor/' || v_tenant, 0));
  select * into v_last from audit_anchors a where a.tenant_id = v_tenant order by a.number desc limit 1;
  if v_last.hour >= v_hour then
    return;
  end if;
  v_number := coalesce(v_last.number, 0) + 1;
  insert into audit_anchor_heads (tenant_id, anchor, stream, last_number, last_hash)
    select v_tenant, v_number, h.stream, h.last_number, h.last_hash
    from audit_heads h left join lateral (
      select k.last_number, k.last_hash from audit_anchor_heads k
      where k.tenant_id = v_tenant and k.stream = h.stream order by k.anchor desc limit 1) k on true
    where h.tenant_id = v_tenant and (h.last_number, h.last_hash) is distinct from (k.last_number, k.last_hash);
  get diagnostics v_moved = row_count;
  if v_moved = 0 then
    return;
  end if;
  select coalesce(v_last.streams, 0) + count(*) filter (where not exists (
      select from audit_anchor_heads k where k.tenant_id = v_tenant and k.stream = n.stream and k.anchor < v_number)),
    string_agg(n.stream || ' ' || n.last_number || ' ' || encode(n.last_hash, 'hex'), E'\n' order by n.stream collate "C")
    into v_streams, v_lines
    from audit_anchor_heads n where n.tenant_id = v_tenant and n.anchor = v_number;
  v_root := sha256(coalesce(v_last.root, sha256(convert_to(v_tenant || '/anchors', 'UTF8')))
    || convert_to(concat_ws(E'\n', v_number, to_char(v_hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), v_streams,
      v_lines), 'UTF8'));
  insert into audit_anchors (id, tenant_id, number, hour, root, streams)
    values (gen_random_uuid(), v_tenant, v_number, v_hour, v_root, v_streams);
  return query select v_number, v_root, v_streams, v_moved;
end $$;
revoke all on function aroko_anchor() from public;
grant execute on function aroko_anchor() to aroko_app;
