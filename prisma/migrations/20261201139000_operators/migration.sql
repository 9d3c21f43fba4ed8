-- Questions to people behind the desk: one per step, and a clock for reminders and for questions that nobody has answered.

create unique index operator_requests_of_step on operator_requests (tenant_id, step_id) where step_id is not null;
create index operator_requests_due on operator_requests (least(expires_at, coalesce(remind_at, expires_at))) where state = 'open';
create policy owner_finds on operator_requests for select to aroko_owner using (true);

create function aroko_operator_requests_due(p_limit int) returns table (tenant_id uuid, request_id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select tenant_id, id from operator_requests
    where state = 'open' and (expires_at <= now() or (remind_at <= now() and reminded_at is null))
    order by expires_at limit p_limit $$;

revoke all on function aroko_operator_requests_due(int) from public;
grant execute on function aroko_operator_requests_due(int) to aroko_app;
