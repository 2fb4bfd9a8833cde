"""Beside: a member lets a dataflow catch up on a thread of its own, while it obeys commands."""

from threading import Thread

from ivm.installed.filling import Filling
from ivm.pool import Budget
from ivm.results import Installed


class Beside:
    """A `filling` that catches up, and then rests until it is to take over what came meanwhile."""

    def __init__(self, filling: Filling, budget: Budget) -> None:
        self._filling = filling
        self._budget = budget
        self._error: BaseException | None = None
        self._go_on()

    @property
    def rests(self) -> bool:
        """Whether it has caught up with what it had taken over, or has failed."""
        return not self._thread.is_alive()

    @property
    def progress(self) -> tuple[int, int]:
        """The stages that have taken all that there was, and all stages."""
        return self._filling.progress

    def stop(self) -> None:
        """End it at its next look at its budget."""
        self._budget.stop()

    def take_over(self) -> Installed | None:
        """Take over what came: the installation, if that was little; otherwise it catches up again.

        Raises what ended it; then, as when it is installed, it is over.
        """
        self._thread.join()
        installed = None
        try:
            if self._error is not None:
                raise self._error
            installed = self._filling.take()
        except BaseException:
            self._filling.close()
            raise
        if installed is None:
            self._go_on()
        else:
            self._filling.close()
        return installed

    def _go_on(self) -> None:
        self._thread = Thread(target=self._run, name="filling", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._filling.catch_up()
        except BaseException as error:  # it is raised where the cluster asks for it
            self._error = error
