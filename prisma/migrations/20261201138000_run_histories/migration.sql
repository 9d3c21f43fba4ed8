-- Histories of runs that ended badly, kept beyond Temporal's retention: a failure can be replayed for as long as its row
-- is there.

create table run_histories (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  -- Null: the history of a conversation.
  turn_id uuid,
  workflow_id text not null,
  -- Temporal's id of the one execution.
  execution_id text not null,
  workflow_type text not null,
  -- How the workflow ended; one whose step failed completes like any other. Null: Temporal had forgotten it.
  status text check (status in ('completed', 'failed', 'terminated', 'timed_out', 'cancelled', 'continued')),
  -- How many events it has.
  events int not null default 0,
  -- JSON of the protocol, gzip: ids, hashes, codes and times, as Temporal held them. Null: it was not to be had, see missing.
  history bytea,
  -- gone: Temporal had forgotten it. too_large: more than we keep.
  missing text check (missing in ('gone', 'too_large')),
  closed_at timestamptz,
  kept_at timestamptz not null default now(),
  check ((history is null) = (missing is not null)),
  unique (tenant_id, workflow_id, execution_id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id)
);
create index run_histories_of_turn on run_histories (turn_id) where turn_id is not null;
create index run_histories_by_execution on run_histories (execution_id);

create index failures_of_workflow on failures (workflow_id, happened_at) where workflow_id is not null;
create index tool_runs_failed on tool_runs (closed_at) where state in ('failed', 'unknown') or code is not null;

alter table run_histories enable row level security;
alter table run_histories force row level security;
create policy tenant_rows on run_histories using (tenant_id = aroko_tenant()) with check (tenant_id = aroko_tenant());
create policy owner_finds on run_histories for select to aroko_owner using (true);
grant select on run_histories to aroko_app, aroko_read;
grant insert on run_histories to aroko_app;

-- What the history keeper asks: runs that ended badly and whose history nobody has kept yet.
create function aroko_runs_without_history(p_older_than interval, p_limit int)
returns table (tenant_id uuid, chat_id uuid, turn_id uuid, closed_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select r.tenant_id, r.chat_id, r.turn_id, r.closed_at from tool_runs r
    where (r.state in ('failed', 'unknown') or r.code is not null) and r.closed_at < now() - p_older_than
      and not exists (select from run_histories h where h.turn_id = r.turn_id)
    order by r.closed_at limit p_limit $$;

-- Which of these executions are kept; a run that was terminated is known by Temporal's list before its tenant is known.
create function aroko_executions_kept(p_execution_ids text[]) returns setof text
language sql stable security definer set search_path = public, pg_temp as
  $$ select execution_id from run_histories where execution_id = any(p_execution_ids) $$;

revoke all on function aroko_runs_without_history(interval, int), aroko_executions_kept(text[]) from public;
grant execute on function aroko_runs_without_history(interval, int), aroko_executions_kept(text[]) to aroko_app;
