-- Jobs of these partitions are submitted held and marked as Berth's, while Berth's heartbeat is fresh: `berth serve --slurm --control`
-- then says when and where they start. Without Berth they are submitted as ever.
--
-- To install: copy it beside slurm.conf, add JobSubmitPlugins=lua to slurm.conf (Debian: package slurm-wlm-basic-plugins), then
-- `scontrol reconfigure`. Slurm reads a changed file again by itself. slurmctld must be able to read HEARTBEAT.

local PARTITIONS = {gpu = true}                 -- those of `--only partition=...`
local HEARTBEAT = "/var/lib/berth/heartbeat"    -- DIR/heartbeat of `--out DIR`
local DEAD_S = 30                               -- as the watchdog has it

-- A heartbeat from the future (a clock that was set) counts as none.
local function fresh()
  local file = io.open(HEARTBEAT, "r")
  if not file then return false end
  local age = os.time() - (tonumber(file:read("*l")) or 0)
  file:close()
  return age <= DEAD_S and age >= -DEAD_S
end

-- Whether the job can only run in partitions of Berth.
local function of_berth(job, partitions)
  local names = job.partition
  if names == nil then
    for name, partition in pairs(partitions) do
      if partition.flag_default == 1 then names = name end
    end
  end
  if names == nil then return false end
  for name in string.gmatch(names, "[^,]+") do
    if not PARTITIONS[name] then return false end
  end
  return true
end

-- What Berth does not look at: whole nodes (--exclusive is 0, =user 2, =mcs 3), reservations, nodes named or excluded. Slurm
-- schedules such jobs itself.
local function unseen(job)
  return job.req_nodes ~= nil or job.exc_nodes ~= nil or job.reservation ~= nil
    or job.shared == 0 or job.shared == 2 or job.shared == 3
end

function slurm_job_submit(job, partitions, uid)
  -- Whatever goes wrong in here must not refuse anybody's job.
  pcall(function()
    -- A hold of the user's own (--hold is priority 0) stays theirs.
    if job.priority ~= 0 and not unseen(job) and of_berth(job, partitions) and fresh() then
      job.admin_comment = "berth"
      job.priority = 0
    end
  end)
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
