-- AdvancedCronJob, apps.kruise.io/v1alpha1: https://openkruise.io/docs/user-manuals/advancedcronjob

local kube = require("kube")

-- append adds all of one list to another.
local function append(list, more)
  for _, v in ipairs(more or {}) do
    table.insert(list, v)
  end
end

function AggregateStatus(obj, items)
  local status, active = obj.status or {}, {}
  for _, item in ipairs(items) do
    local s = item.status or {}
    append(active, s.active)
    status.type = s.type or status.type
    if (s.lastScheduleTime or "") > (status.lastScheduleTime or "") then
      status.lastScheduleTime = s.lastScheduleTime
    end
  end
  status.active = #active > 0 and active or nil
  obj.status = next(status) and status or nil
  return obj
end

function GetDependencies(obj)
  local made = obj.spec.template or {}
  local job = made.jobTemplate or made.broadcastJobTemplate or {}
  if not (job.spec and job.spec.template) then
    return {}
  end
  return kube.getPodDependencies(job.spec.template, obj.metadata.namespace)
end
