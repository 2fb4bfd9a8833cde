// What Cython cannot say: threads that share tasks, atomic numbers that they take these by, and where each thread
// notes an overflow.
#pragma once
#include <Python.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ivm {

// Does a part of something; -1 where it raised.
using Task = int (*)(void* context, Py_ssize_t i);

// The same of what cannot fail.
using SafeTask = void (*)(void* context, Py_ssize_t i);

// Where this thread notes that a count has overflowed; nowhere, where it is null.
inline thread_local int* overflow_flag = nullptr;

inline int* watch_overflow(int* flag) {
    int* before = overflow_flag;
    overflow_flag = flag;
    return before;
}

// Several threads may do so at once.
inline void note_overflow() {
    if (overflow_flag != nullptr) __atomic_store_n(overflow_flag, 1, __ATOMIC_RELAXED);
}

// Parts that helpers do beside who posted them.
struct Chore {
    SafeTask task;
    void* context;
    Py_ssize_t parts;
    Py_ssize_t next;                        // to be begun; the team's guard guards it
    std::atomic<Py_ssize_t> unfinished;
};

// Waits in small steps, and lets others have the processor now and then.
class Patience {
public:
    static constexpr std::chrono::microseconds WITHIN_A_STEP{2000}, BETWEEN_STEPS{200}, AFTERWARDS{10};

    // False once it has been as long as `most`, which is when to sleep.
    bool wait(std::chrono::microseconds most) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (++pauses_ % PAUSES_TO_A_YIELD != 0) return true;
        std::this_thread::yield();
        return std::chrono::steady_clock::now() - begin_ < most;
    }

private:
    static constexpr int PAUSES_TO_A_YIELD = 64;    // about a microsecond

    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    int pauses_ = 0;
};

// The threads of this process that help. One caller at a time has them.
class Team {
public:
    int run(Task task, void* context, Py_ssize_t tasks, int threads) {
        if (tasks < 2 || threads < 2 || tasks > MOST_TASKS || within_ || busy_.exchange(true))
            return run_alone(task, context, tasks);
        hire(std::min<Py_ssize_t>(tasks, threads) - 1);
        if (!in_step_.load(std::memory_order_relaxed)) begin_step();
        task_ = task;
        context_ = context;
        flag_ = overflow_flag;
        failed_ = false;
        unfinished_.store(tasks, std::memory_order_relaxed);
        const uint64_t turn = (tasks_.load(std::memory_order_relaxed) >> TURN) + 1;
        tasks_.store(turn << TURN | static_cast<uint64_t>(tasks) << COUNT);
        wake(std::min<Py_ssize_t>(tasks, threads) - 1);
        for (Py_ssize_t i; take(&i);) perform(i);
        await_all(unfinished_);
        const bool failed = failed_;
        if (failed) raise_error();
        busy_.store(false);
        return failed ? -1 : 0;
    }

    // After a step.
    void rest() {
        if (!in_step_.load(std::memory_order_relaxed)) return;
        rested_.store(now(), std::memory_order_relaxed);
        in_step_.store(false);
    }

    // Nothing where memory is short.
    Chore* post(SafeTask task, void* context, Py_ssize_t parts, int threads) noexcept {
        Chore* chore = nullptr;
        try {
            chore = new Chore{task, context, parts, 0, {parts}};
            std::lock_guard lock(guard_);
            chores_.push_back(chore);
            posted_.store(chores_.size());
        } catch (const std::bad_alloc&) {
            delete chore;
            return nullptr;
        }
        hire(threads - 1);
        wake(std::min<Py_ssize_t>(parts, threads - 1));
        return chore;
    }

    static bool is_over(const Chore* chore) {
        return chore->unfinished.load(std::memory_order_acquire) == 0;
    }

    // Does what nobody has begun, waits for the rest, and frees the chore.
    void finish(Chore* chore) noexcept {
        for (Py_ssize_t i; take(chore, &i);) perform(chore, i);
        await_all(chore->unfinished);
        delete chore;
    }

    // The same, but what nobody has begun nobody does.
    void drop(Chore* chore) noexcept {
        {
            std::lock_guard lock(guard_);
            chore->unfinished.fetch_sub(chore->parts - chore->next);
            chore->next = chore->parts;
            withdraw(chore);
        }
        await_all(chore->unfinished);
        delete chore;
    }

    // Before the process forks: no thread, which the child will not have, is within a chore then.
    void hold_chores() {
        Patience patience;
        for (guard_.lock(); in_chores_.load() > 0; guard_.lock()) {
            guard_.unlock();
            patience.wait(Patience::BETWEEN_STEPS);
        }
    }

    void let_chores() { guard_.unlock(); }

private:
    // The turn, how many tasks it has, and which is the next one, as one number: who takes a task by changing
    // it has not overslept the turn.
    static constexpr int COUNT = 16, TURN = 32;
    static constexpr uint64_t NUMBER = 0xFFFF;
    static constexpr Py_ssize_t MOST_TASKS = 0xFFFF;

    static constexpr int MOST_SOON = 3, LIKELY_SOON = 2;    // of `soon_`: the most, and from which on to wait

    static int64_t now() {
        return std::chrono::duration_cast<std::chrono::microseconds>(
                   std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    // Before the first turn of a step. Whether it came soon after the last step that had any tells, with those before
    // it, whether to wait for the next one.
    void begin_step() {
        const bool soon = now() - rested_.load(std::memory_order_relaxed) < Patience::BETWEEN_STEPS.count();
        const int before = soon_.load(std::memory_order_relaxed);
        soon_.store(soon ? std::min(before + 1, MOST_SOON) : std::max(before - 1, 0), std::memory_order_relaxed);
        in_step_.store(true);
    }

    // How long a helper that has nothing to do stays awake.
    std::chrono::microseconds to_stay_awake() const {
        if (in_step_.load(std::memory_order_relaxed)) return Patience::WITHIN_A_STEP;
        return soon_.load(std::memory_order_relaxed) < LIKELY_SOON ? Patience::AFTERWARDS : Patience::BETWEEN_STEPS;
    }

    static int run_alone(Task task, void* context, Py_ssize_t tasks) {
        for (Py_ssize_t i = 0; i < tasks; ++i)
            if (task(context, i) < 0) return -1;
        return 0;
    }

    bool take(Py_ssize_t* i) {
        uint64_t now = tasks_.load(std::memory_order_acquire);
        while (are_left(now))
            if (tasks_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) {
                *i = static_cast<Py_ssize_t>(now & NUMBER);
                return true;
            }
        return false;
    }

    static bool are_left(uint64_t tasks) { return (tasks & NUMBER) < (tasks >> COUNT & NUMBER); }

    // After this nothing of the turn may be touched: it may be over.
    void perform(Py_ssize_t i) {
        within_ = true;
        overflow_flag = flag_;
        if (task_(context_, i) < 0) keep_error();
        within_ = false;
        if (unfinished_.fetch_sub(1) == 1) tell_sleepers();
    }

    bool take(Chore* chore, Py_ssize_t* i) {
        std::lock_guard lock(guard_);
        return take_locked(chore, i);
    }

    // The next part of the oldest chore.
    bool take_any(Chore** chore, Py_ssize_t* i) {
        if (posted_.load(std::memory_order_relaxed) == 0) return false;
        std::lock_guard lock(guard_);
        if (chores_.empty()) return false;
        *chore = chores_.front();
        return take_locked(*chore, i);
    }

    bool take_locked(Chore* chore, Py_ssize_t* i) {
        if (chore->next == chore->parts) return false;
        *i = chore->next++;
        if (chore->next == chore->parts) withdraw(chore);
        ++in_chores_;
        return true;
    }

    // Of a chore of which all is begun nothing is to be taken. A forked child has chores of another team.
    void withdraw(Chore* chore) {
        const auto posted = std::find(chores_.begin(), chores_.end(), chore);
        if (posted != chores_.end()) chores_.erase(posted);
        posted_.store(chores_.size());
    }

    void perform(Chore* chore, Py_ssize_t i) {
        chore->task(chore->context, i);
        const bool last = chore->unfinished.fetch_sub(1) == 1;
        // After this the chore may not be touched: who waits for it may have freed it.
        if (last) tell_sleepers();
        --in_chores_;
    }

    void await_all(const std::atomic<Py_ssize_t>& unfinished) {
        Patience patience;
        while (unfinished.load(std::memory_order_acquire) > 0) {
            if (patience.wait(Patience::WITHIN_A_STEP)) continue;
            std::unique_lock lock(guard_);
            ++waiting_;
            finished_.wait(lock, [&] { return unfinished.load() == 0; });
            --waiting_;
        }
    }

    void tell_sleepers() {
        if (waiting_.load() == 0) return;
        { std::lock_guard lock(guard_); }
        finished_.notify_all();
    }

    // Where there cannot be as many threads, there are fewer.
    void hire(Py_ssize_t helpers) {
        if (hired_.load() >= helpers) return;
        std::lock_guard lock(guard_);
        try {
            for (; hired_ < helpers; ++hired_) std::thread([this] { help(); }).detach();
        } catch (const std::exception&) {
        }
    }

    void help() {
        // A Python state of its own, in which what a task has raised is there until it is kept. That takes no GIL.
        if (PyThreadState_New(PyInterpreterState_Main()) == nullptr) return;
        for (;;) {
            ++idle_;
            Patience patience;
            while (patience.wait(to_stay_awake()))
                for (; help_once(); patience = Patience()) {}
            --idle_;
            std::unique_lock lock(guard_);
            ++sleeping_;
            left_.wait(lock, [this] { return are_left(tasks_.load()) || !chores_.empty(); });
            --sleeping_;
        }
    }

    // Does a part, if there is any to be begun: of what its caller waits for first.
    bool help_once() {
        Py_ssize_t i;
        Chore* chore = nullptr;
        if (!take(&i) && !take_any(&chore, &i)) return false;
        --idle_;
        if (chore != nullptr)
            perform(chore, i);
        else
            perform(i);
        ++idle_;
        return true;
    }

    // Wakes helpers, unless as many as are wanted are awake and have nothing to do.
    void wake(Py_ssize_t helpers) {
        Py_ssize_t wanted = std::min(helpers - idle_.load(), sleeping_.load());
        if (wanted <= 0) return;
        { std::lock_guard lock(guard_); }
        for (; wanted > 0; --wanted) left_.notify_one();
    }

    // Of several errors one is raised.
    void keep_error() {
        const PyGILState_STATE state = PyGILState_Ensure();
        if (failed_)
            PyErr_Clear();
        else
            PyErr_Fetch(&type_, &value_, &traceback_);
        failed_ = true;
        PyGILState_Release(state);
    }

    void raise_error() {
        const PyGILState_STATE state = PyGILState_Ensure();
        PyErr_Restore(type_, value_, traceback_);
        PyGILState_Release(state);
    }

    inline static thread_local bool within_ = false;    // one of its tasks runs in this thread

    std::atomic<bool> busy_{false};
    Task task_ = nullptr;       // this, and what is below, belongs to the caller
    void* context_ = nullptr;
    int* flag_ = nullptr;       // where it notes overflows, and so do its helpers
    bool failed_ = false;       // the GIL guards it, and the error, while tasks run
    PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;

    alignas(64) std::atomic<uint64_t> tasks_{0};
    alignas(64) std::atomic<Py_ssize_t> unfinished_{0};
    alignas(64) std::atomic<Py_ssize_t> idle_{0};   // helpers that are awake and have nothing to do
    std::atomic<bool> in_step_{false};      // which has shared something, and may do so again
    std::atomic<int> soon_{0};              // how often one has come soon after another lately
    std::atomic<int64_t> rested_{0};        // when the last one ended, in microseconds
    std::atomic<Py_ssize_t> sleeping_{0};
    std::atomic<Py_ssize_t> waiting_{0};    // who sleep until helpers have finished
    std::atomic<Py_ssize_t> hired_{0};
    std::mutex guard_;          // of falling asleep, of chores, and of who is hired
    std::condition_variable left_, finished_;

    std::vector<Chore*> chores_;            // of which not all is begun
    std::atomic<size_t> posted_{0};         // how many these are
    std::atomic<Py_ssize_t> in_chores_{0};  // threads that do a part of one
};

// There for as long as the process: helpers may be asleep in it when that ends. A forked child, in which they are
// not, has another one.
inline Team& team() {
    static Team* team = new Team;
    static const int forks = pthread_atfork(
        [] { team->hold_chores(); }, [] { team->let_chores(); }, [] { team = new Team; });
    (void)forks;
    return *team;
}

}  // namespace ivm
