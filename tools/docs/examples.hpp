// A block of commands a verb, for its page; tests/docs_test.cpp runs them, one page in one folder.
#pragma once

namespace berth {

struct VerbExample {
  const char* verb;
  const char* marker;  // of the block, such as "learn: needs LibTorch"; "" = always run
  const char* commands;
};

inline constexpr VerbExample kVerbExamples[] = {
    {"generate", "",
     "tools/berth generate --workload 'synthetic(rate=4.8,jobs=200,gangs=multi)' --cluster "
     "v100=36,p100=36,k80=36 --seed 7 --out s.h5\n"
     "tools/berth generate --workload toy --out toy.h5 --json toy.json\n"
     "tools/berth generate --like s.h5 --out model.toml --check page   # a generator like a log, and how like\n"
     "tools/berth generate --workload 'like(file=model.toml)' --cluster v100=36,p100=36,k80=36 --out more.h5\n"},
    {"convert", "",
     "printf 'LM (batch size 10)\\t-\\t-\\t-\\t1\\t1000\\t1\\t1\\t-1.0\\t0.0\\nResNet-18 (batch size "
     "32)\\t-\\t-\\t-\\t1\\t5000\\t2\\t1\\t-1.0\\t60.0\\n' > t.trace\n"
     "tools/berth convert --format gavel t.trace --cluster v100=4,k80=4 --out t.h5\n"},
    {"simulate", "",
     "tools/berth simulate --scheduler 'queue(order=sjf,backfill=easy)' --window 300:400 --json r.json "
     "--events e.h5\n"
     "tools/berth simulate --workload 'synthetic(rate=0.5,jobs=50)' --features 'failures(mtbf_h=50)' "
     "--scheduler srpt --timeline t.json\n"},
    {"train", "learn: needs LibTorch",
     "tools/berth train --agent ppo --steps 4000 --envs 4 --threads 1 --visible 16 --episode-jobs 40 --out "
     "runs/a\n"
     "tools/berth train --resume --out runs/a --steps 8000     # Ctrl-C saves, too\n"
     "tools/berth train --agent 'dqn(train_freq=1000)' --steps 4000 --envs 4 --threads 1 --visible 16 "
     "--episode-jobs 40 --validate 2 --out runs/b\n"
     "tools/berth inspect runs/b/best.h5   # the policy that did best, not the last\n"},
    {"solve", "",
     "printf 'job,gang,weight,v100,k80\\nlm,1,1,12,2\\nresnet,2,1,9,4\\nrl,1,2,3,3\\n' > jobs.csv\n"
     "tools/berth solve jobs.csv --workers v100=2,k80=2\n"
     "tools/berth solve jobs.csv --workers v100=2,k80=2 --objective water_filling --out shares.csv --json "
     "solved.json\n"
     "printf 'job,kind,v100\\nlm,text,12\\nrl,game,3\\n' > kinds.csv\n"
     "printf 'kind,other,type,speed,other_speed\\ntext,game,v100,9,2.5\\n' > pairs.csv\n"
     "tools/berth solve kinds.csv --workers v100=1 --beside pairs.csv   # both share the GPU\n"},
    {"explain", "",
     "tools/berth explain --policy data/policies/cluster/hetero_oracle_1.h5 --at 36000 --json why.json "
     "--html why.html\n"},
    {"tune", "",
     "tools/berth tune --scheduler tuned --generations 1 --workloads 2 --jobs 60 --window 20:40 --validate 2 "
     "--out tuned.ini\n"
     "tools/berth evaluate --config tuned.ini --seeds 1000:1001\n"
     "tools/berth generate --workload 'toy' --out log.h5\n"
     "tools/berth tune --hinges 0 --scenario log.h5 --reserve easy "
     "--jobs 20 --workloads 2 --generations 1 --state search.h5 --out policy.h5\n"
     "tools/berth tune --resume --state search.h5 --generations 2     # Ctrl-C keeps the search, too\n"
     "tools/berth simulate --scenario log.h5 --scheduler 'policy(file=policy.h5)'\n"},
    {"evaluate", "",
     "tools/berth evaluate --schedulers 'fcfs;srpt' --seeds 1000:1002 --json table.json --out evaluation.h5\n"
     "tools/berth evaluate --schedulers 'fcfs;all' --workload 'synthetic(rate=1,jobs=20)' --cluster "
     "v100=4,k80=4 --seeds 0:1\n"},
    {"sweep", "",
     "tools/berth sweep --over 'rate=0.2,0.4' --over 'v100=4..12..4' --workload "
     "'synthetic(rate={rate},jobs=40)' "
     "--cluster 'v100={v100},k80=4' --schedulers fcfs srpt --seeds 0:3 --pareto mean_jct_h,util --out grid\n"
     "tools/berth sweep --over 'mtbf_h=20,200' --workload 'synthetic(rate=1,jobs=40)' --cluster v100=8 "
     "--features 'failures(mtbf_h={mtbf_h})' --seeds 0:2 --out faults --print-array > array.sh\n"},
    {"size", "",
     "tools/berth size --types v100=1..16 --meet 'mean_wait_h<=1' --workload 'queueing(rate=4,jobs=1000)' "
     "--schedulers fcfs --seeds 0:3\n"
     "tools/berth size --types 'v100=0..8..4@2.5,k80=0..8..4@0.5' --meet 'mean_jct_h<=24' --workload "
     "'synthetic(rate=0.5,jobs=60)' --schedulers srpt las --seeds 0:3 --json sized.json\n"},
    {"export", "learn: needs LibTorch",
     "tools/berth train --steps 2000 --envs 4 --threads 1 --visible 16 --episode-jobs 40 --out run\n"
     "tools/berth export run --out policy.h5 --onnx policy.onnx\n"
     "tools/berth simulate --scheduler 'policy(file=policy.h5)' --window 0:50\n"},
    {"forecast", "",
     "tools/berth forecast --workload 'synthetic(requests=1:5)' --scheduler easy --json starts.json\n"
     "tools/berth forecast --workload 'synthetic(requests=1:5)' --scheduler easy --calibrate --moments 5\n"},
    {"progress", "not run: it is for jobs of a Slurm",
     "export BERTH_PROGRESS=/var/lib/berth/progress\n"
     "berth progress 1200\n"
     "echo \"$(date +%s) 1200\" >>$BERTH_PROGRESS/$SLURM_JOB_ID     # the same without Berth\n"},
    {"serve", "not run: it serves until it is stopped",
     "tools/berth serve --slurm --scheduler srpt --only partition=gpu --out berth     # only reads\n"
     "tools/berth serve --extender --policy policy.h5 --table tools/examples/kubernetes/table.json\n"},
    {"inspect", "",
     "tools/berth generate --workload toy --out toy.h5\n"
     "tools/berth inspect toy.h5\n"},
    {"bench", "",
     "tools/berth bench --list\n"
     "tools/berth bench --only start --repeats 1 --seconds 0.1\n"},
    {"reproduce", "", "tools/berth reproduce queueing --replications 5 --jobs 2000 --only srpt\n"},
    {"reproduce", "slow: minutes", "tools/berth reproduce queueing --replications 20\n"},
    {"list", "",
     "tools/berth list schedulers\n"
     "tools/berth list schedulers --name srpt,queue\n"
     "tools/berth list features --full\n"},
};

}  // namespace berth
