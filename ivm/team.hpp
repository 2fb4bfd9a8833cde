// What Cython cannot say: threads that share tasks, and atomic numbers that they take these by.
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

namespace ivm {

// Does a part of something; -1 where it raised.
using Task = int (*)(void* context, Py_ssize_t i);

// Waits in small steps, and lets others have the processor now and then.
class Patience {
public:
    // False once it has been long, which is when to sleep.
    bool wait() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (++steps_ % STEPS_TO_A_YIELD != 0) return true;
        std::this_thread::yield();
        return std::chrono::steady_clock::now() < end_;
    }

private:
    static constexpr int STEPS_TO_A_YIELD = 64;     // about a microsecond
    static constexpr std::chrono::microseconds LONG{200};

    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + LONG;
    int steps_ = 0;
};

// The threads of this process that help. One caller at a time has them.
class Team {
public:
    int run(Task task, void* context, Py_ssize_t tasks, int threads) {
        if (tasks < 2 || threads < 2 || tasks > MOST_TASKS || within_ || busy_.exchange(true))
            return run_alone(task, context, tasks);
        hire(std::min<Py_ssize_t>(tasks, threads) - 1);
        task_ = task;
        context_ = context;
        failed_ = false;
        unfinished_.store(tasks, std::memory_order_relaxed);
        const uint64_t turn = (tasks_.load(std::memory_order_relaxed) >> TURN) + 1;
        tasks_.store(turn << TURN | static_cast<uint64_t>(tasks) << COUNT);
        wake(std::min<Py_ssize_t>(tasks, threads) - 1);
        for (Py_ssize_t i; take(&i);) perform(i);
        await_all();
        const bool failed = failed_;
        if (failed) raise_error();
        busy_.store(false);
        return failed ? -1 : 0;
    }

private:
    // The turn, how many tasks it has, and which is the next one, as one number: who takes a task by changing
    // it has not overslept the turn.
    static constexpr int COUNT = 16, TURN = 32;
    static constexpr uint64_t NUMBER = 0xFFFF;
    static constexpr Py_ssize_t MOST_TASKS = 0xFFFF;

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
        if (task_(context_, i) < 0) keep_error();
        within_ = false;
        if (unfinished_.fetch_sub(1) == 1 && caller_sleeps_.load()) {
            { std::lock_guard lock(guard_); }
            finished_.notify_one();
        }
    }

    void await_all() {
        Patience patience;
        while (unfinished_.load(std::memory_order_acquire) > 0) {
            if (patience.wait()) continue;
            std::unique_lock lock(guard_);
            caller_sleeps_.store(true);
            finished_.wait(lock, [this] { return unfinished_.load() == 0; });
            caller_sleeps_.store(false);
        }
    }

    // Where there cannot be as many threads, there are fewer.
    void hire(Py_ssize_t helpers) {
        try {
            for (; hired_ < helpers; ++hired_) std::thread([this] { help(); }).detach();
        } catch (const std::exception&) {
        }
    }

    void help() {
        // A Python state of its own, in which what a task has raised is there until it is kept. That takes no GIL.
        if (PyThreadState_New(PyInterpreterState_Main()) == nullptr) return;
        for (;;) {
            Patience patience;
            while (patience.wait())
                for (Py_ssize_t i; take(&i); patience = Patience()) perform(i);
            std::unique_lock lock(guard_);
            ++sleeping_;
            left_.wait(lock, [this] { return are_left(tasks_.load()); });
            --sleeping_;
        }
    }

    // Wakes helpers, unless as many as are wanted are awake.
    void wake(Py_ssize_t helpers) {
        const Py_ssize_t sleeping = sleeping_.load();
        Py_ssize_t wanted = std::min(helpers - (hired_ - sleeping), sleeping);
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
    Py_ssize_t hired_ = 0;      // this, and what is below, belongs to the caller
    Task task_ = nullptr;
    void* context_ = nullptr;
    bool failed_ = false;       // the GIL guards it, and the error, while tasks run
    PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;

    alignas(64) std::atomic<uint64_t> tasks_{0};
    alignas(64) std::atomic<Py_ssize_t> unfinished_{0};
    alignas(64) std::atomic<Py_ssize_t> sleeping_{0};
    std::atomic<bool> caller_sleeps_{false};
    std::mutex guard_;          // of falling asleep
    std::condition_variable left_, finished_;
};

// There for as long as the process: helpers may be asleep in it when that ends. A forked child, in which they are
// not, has another one.
inline Team& team() {
    static Team* team = new Team;
    static const int forks = pthread_atfork(nullptr, nullptr, [] { team = new Team; });
    (void)forks;
    return *team;
}

}  // namespace ivm
